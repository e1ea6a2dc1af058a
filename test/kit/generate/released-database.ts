// Databases of released versions, each stored as a backup that the version wrote of itself (test/released/), and their
// upgrade by the migrations of this version.
import { cpSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { loadBackup } from '../../../lib/backup/load.ts'
import { openBackup } from '../../../lib/backup/verify.ts'
import { writeBackup } from '../../../lib/backup/write.ts'
import { scoped } from '../../../lib/base/async/dispose.ts'
import type { Sql } from '../../../lib/store/postgres/db.ts'
import { migrate, migrationFolder } from '../../../lib/store/postgres/migrate.ts'
import { secretsIn } from '../../../lib/store/secret/secrets.ts'
import { createEmptyDatabase, projectRoot, type Scope } from '../db.ts'
import { temporaryFolder } from '../files/folders.ts'
import { createFixture } from '../fixture.ts'
import { dumpSchema } from './schema-dump.ts'

export const releasedFolder = join(projectRoot, 'test', 'released')

/** Stores the database of this version, with rows in most tables. Throws if the file exists. */
export async function writeReleased(t: Scope, file: string): Promise<void> {
  const { sql } = await createFixture(t)
  const dataDir = temporaryFolder(t)
  const secrets = secretsIn(join(dataDir, 'keys'))
  await writeBackup({ sql, file, dataDir, secrets, scope: 'all' })
}

/**
 * Upgrades the database of a stored version and returns what differs afterwards: its schema from that of a new
 * database, and its rows from before, apart from the `intended` tables and columns (`table`, `table.column`).
 */
export async function differencesAfterUpgrade(
  t: Scope,
  file: string,
  { folder = migrationFolder, intended = [] as readonly string[] } = {},
): Promise<string[]> {
  const { sql } = await createEmptyDatabase(t)
  await loadReleased(t, sql, { file, folder })
  const before = await rowsByTable(sql)
  await migrate(sql, folder)
  const fresh = await createEmptyDatabase(t)
  await migrate(fresh.sql, folder)
  const schema = differingLines(await dumpSchema(sql), await dumpSchema(fresh.sql))
  return [...schema, ...differingRows(before, await rowsByTable(sql), new Set(intended))]
}

/** Its schema comes from the files that it had; one that was changed since is refused. */
async function loadReleased(
  t: Scope,
  sql: Sql,
  { file, folder }: { file: string; folder: string },
): Promise<void> {
  await scoped(async use => {
    const backup = use(await openBackup(file))
    const migrations = join(temporaryFolder(t), 'sql')
    mkdirSync(migrations)
    for (const { number, name } of backup.manifest.migrations) {
      const migration = `${String(number).padStart(4, '0')}_${name}.sql`
      cpSync(join(folder, migration), join(migrations, migration))
    }
    await loadBackup(sql, { backup, place: file, migrations })
  })
}

type Row = Record<string, unknown>

/** Versions of lists change with the rows. */
async function rowsByTable(sql: Sql): Promise<Map<string, Row[]>> {
  const tables = await sql<{ name: string }[]>`
    select tablename::text as name from pg_tables
    where schemaname = 'public' and tablename !~ '^schema_migration$|list_change$'
    order by 1`
  const rows = new Map<string, Row[]>()
  for (const { name } of tables)
    rows.set(
      name,
      (await sql<{ row: Row }[]>`select to_jsonb(x) as row from ${sql(name)} x`).map(r => r.row),
    )
  return rows
}

function differingLines(upgraded: string, fresh: string): string[] {
  const [ofUpgraded, ofFresh] = [upgraded.split('\n'), fresh.split('\n')]
  const missing = ofFresh.filter(line => !ofUpgraded.includes(line))
  const surplus = ofUpgraded.filter(line => !ofFresh.includes(line))
  const found = [
    ...missing.map(line => `only in a new database: ${line.trim()}`),
    ...surplus.map(line => `only in an upgraded database: ${line.trim()}`),
  ]
  return found.length > 0 || upgraded === fresh
    ? found
    : ['lines of the schema are at another place']
}

function differingRows(
  before: Map<string, Row[]>,
  after: Map<string, Row[]>,
  intended: Set<string>,
): string[] {
  const compared = [...before].filter(([table]) => !intended.has(table))
  return compared.flatMap(([table, rows]) => {
    const rowsAfter = after.get(table)
    if (rowsAfter === undefined) return [`${table} is gone`]
    const columns = Object.keys(rows[0] ?? {}).filter(name => !intended.has(`${table}.${name}`))
    const gone = columns.filter(name => rowsAfter[0] && !(name in rowsAfter[0]))
    if (gone.length > 0) return gone.map(name => `${table}.${name} is gone`)
    const texts = (all: Row[]) => all.map(row => JSON.stringify(columns.map(name => row[name])))
    const [textsBefore, textsAfter] = [texts(rows).sort(), texts(rowsAfter).sort()]
    return textsBefore.join('\n') === textsAfter.join('\n') ? [] : [`rows of ${table} differ`]
  })
}
