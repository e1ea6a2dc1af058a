// Replaces the rows of a database by those of a backup, in one transaction: until its end nothing has changed.
import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { Invalid } from '../base/errors.ts'
import type { Sql, Transaction } from '../store/postgres/db.ts'
import { migrateTo, readMigrations } from '../store/postgres/migrate.ts'
import { dropQueue } from '../store/queue/select-jobs.ts'
import { detachConstraints } from './constraints.ts'
import type { TableManifest } from './manifest.ts'
import { unpackPiece } from './pieces.ts'
import { tablesIn } from './tables.ts'
import type { OpenBackup } from './verify.ts'

type Options = {
  backup: OpenBackup
  /** Name of the backup in messages. */
  place: string
  /** Folder of the migrations; another one in tests. */
  migrations?: string | undefined
  signal?: AbortSignal | undefined
}

/**
 * Creates the schema of the backup, loads its rows, and applies the migrations that are newer. The queue is deleted; its
 * jobs come from the catalog. The installation keeps its id. Throws Invalid for a backup that is damaged or from another
 * version, and the reason of `signal`.
 */
export async function loadBackup(sql: Sql, { backup, place, migrations, signal }: Options) {
  const { manifest } = backup
  await sql.begin(async tx => {
    await tx`set local statement_timeout = 0`
    await tx`set local idle_in_transaction_session_timeout = 0`
    await tx`set local maintenance_work_mem = '256MB'`
    const id = await installationId(tx)
    await dropEverything(tx)
    const schema = await migrateTo(tx, manifest.migrations, {
      place,
      ...(migrations === undefined ? {} : { folder: migrations }),
    })
    await assertTables(tx, manifest.tables)
    const reattach = await detachConstraints(tx)
    for (const table of manifest.tables) await loadTable(tx, table, { backup, signal })
    for (const { name, value } of manifest.sequences)
      if (value !== null) await tx`select setval(${`"${name}"`}::regclass, ${value}::bigint, true)`
    await reattach()
    await schema.rest()
    if (id !== null)
      await tx`
        insert into setting (key, value) values ('installation_id', ${tx.json({ id })})
        on conflict (key) do nothing`
    signal?.throwIfAborted()
    await tx`analyze`
  })
}

/** The names in a file are not to reach beyond the schema. */
async function assertTables(tx: Transaction, tables: readonly TableManifest[]) {
  const known = new Map((await tablesIn(tx, 'all')).map(({ name, columns }) => [name, columns]))
  const isKnown = ({ name, columns }: TableManifest) =>
    columns.every(column => known.get(name)?.includes(column))
  const foreign = tables.find(table => !isKnown(table))
  if (foreign)
    throw new Invalid(`The backup contains a table that its schema lacks: ${foreign.name}`)
}

async function installationId(tx: Transaction): Promise<string | null> {
  const [table] = await tx`select to_regclass('setting') as name`
  if (table!.name === null) return null
  const [row] = await tx<{ id: string }[]>`
    select value ->> 'id' as id from setting where key = 'installation_id'`
  return row?.id ?? null
}

/** Throws Invalid if the schema contains tables of other applications. */
async function dropEverything(tx: Transaction) {
  const tables = await tx<{ name: string }[]>`
    select tablename::text as name from pg_tables where schemaname = current_schema()`
  const own = new Set(['schema_migration', ...migrationTables()])
  const foreign = tables.map(({ name }) => name).filter(name => !own.has(name))
  if (foreign.length > 0)
    throw new Invalid(
      `The database contains tables of another application (${foreign.slice(0, 3).join(', ')}); use an empty one`,
    )
  for (const { name } of tables) await tx`drop table ${tx(name)} cascade`
  const sequences = await tx<{ name: string }[]>`
    select sequencename::text as name from pg_sequences where schemaname = current_schema()`
  for (const { name } of sequences) await tx`drop sequence ${tx(name)} cascade`
  const functions = await tx<{ signature: string }[]>`
    select p.oid::regprocedure::text as signature
    from pg_proc p
    where p.pronamespace = (select oid from pg_namespace where nspname = current_schema())
      and not exists (select from pg_depend d where d.objid = p.oid and d.deptype = 'e')`
  for (const { signature } of functions) await tx.unsafe(`drop function ${signature} cascade`)
  await dropQueue(tx)
}

/** Names of all tables that a migration has ever created. */
function migrationTables(): string[] {
  const creation = /^\s*create\s+(?:unlogged\s+)?table\s+(?:if\s+not\s+exists\s+)?(\w+)/gim
  return readMigrations().flatMap(({ text }) =>
    [...text.matchAll(creation)].map(([, name]) => name!),
  )
}

type Source = { backup: OpenBackup; signal: AbortSignal | undefined }

async function loadTable(tx: Transaction, table: TableManifest, { backup, signal }: Source) {
  const { name, columns, pieces, rows, sha256 } = table
  // Migrations may have stored rows.
  await tx`truncate ${tx(name)} cascade`
  const hash = createHash('sha256')
  async function* texts() {
    for (const [i, { bytes }] of pieces.entries()) {
      signal?.throwIfAborted()
      const text = await unpackPiece(await backup.piece(name, i), bytes)
      hash.update(text)
      yield text
    }
  }
  if (pieces.length > 0)
    await pipeline(
      Readable.from(texts(), { objectMode: false }),
      await tx`copy ${tx(name)} (${tx(columns)}) from stdin`.writable(),
    )
  const [stored] = await tx<[{ count: number }]>`select count(*) from ${tx(name)}`
  if (stored.count !== rows || hash.digest('hex') !== sha256)
    throw new Invalid(`The backup is damaged: ${stored.count} of ${rows} rows of ${name}`)
}
