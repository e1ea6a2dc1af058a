// Database migrations: applies sql/NNNN_name.sql in order, forward only.
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Invalid } from '../../base/errors.ts'
import { packageFolder } from '../../base/package.ts'
import type { Sql, Transaction } from './db.ts'

export type Migration = { number: number; name: string; text: string; sha256: string }
export type AppliedMigration = { number: number; name: string; ms: number }

// Arbitrary advisory lock key; serializes processes that start concurrently.
const lockKey = 0x57ac_c001
const fileNamePattern = /^(\d{4})_([a-z0-9_]+)\.sql$/
/** Generated dump of the schema next to the migrations; never applied. */
const dumpFile = 'schema.sql'

export const migrationFolder = join(packageFolder, 'sql')

/**
 * Applies pending migrations, each in its own transaction, and returns them. Throws Invalid, naming the
 * database's `place`, if it is newer or was migrated with different files; an Error with file and line if a
 * statement fails.
 */
export async function migrate(
  sql: Sql,
  folder = migrationFolder,
  { place = '' }: { place?: string } = {},
): Promise<AppliedMigration[]> {
  const migrations = readMigrations(folder)
  const applied: AppliedMigration[] = []
  await sql.begin(async tx => {
    await lock(tx)
    await createTable(tx)
    await findPending(tx, migrations, place)
  })
  for (const migration of migrations) {
    const start = performance.now()
    const isNew = await sql.begin(async tx => {
      await lock(tx)
      if (!(await findPending(tx, migrations, place)).includes(migration)) return false
      await apply(tx, migration)
      return true
    })
    const { number, name } = migration
    if (isNew) applied.push({ number, name, ms: Math.round(performance.now() - start) })
  }
  return applied
}

type AppliedRow = { number: number; name: string; sha256: string }

/**
 * Creates the schema as it was after `applied`, in a schema without tables; `rest` applies the other migrations.
 * Throws Invalid, naming the `place` of the applied ones, as migrate does.
 */
export async function migrateTo(
  tx: Transaction,
  applied: readonly AppliedRow[],
  { place, folder = migrationFolder }: { place: string; folder?: string },
): Promise<{ rest: () => Promise<void> }> {
  const migrations = readMigrations(folder)
  const pending = pendingAfter(applied, migrations, place)
  await lock(tx)
  await createTable(tx)
  for (const migration of migrations) if (!pending.includes(migration)) await apply(tx, migration)
  return {
    async rest() {
      for (const migration of pending) await apply(tx, migration)
    },
  }
}

const createTable = (tx: Transaction) => tx`
  create table if not exists schema_migration (
    number int primary key,
    name text not null,
    sha256 text not null,
    applied_at timestamptz not null default now()
  )`

/** The migrations in `folder`, sorted by number. Throws Invalid for an invalid name or a duplicate number. */
export function readMigrations(folder = migrationFolder): Migration[] {
  const names = existsSync(folder) ? readdirSync(folder) : []
  const migrations = names
    .filter(name => name.endsWith('.sql') && name !== dumpFile)
    .map(name => {
      const [, number, title] = fileNamePattern.exec(name) ?? []
      if (!number || !title) throw new Invalid(`${name} is not named like 0001_name.sql`)
      // Git on Windows may have converted the line endings.
      const text = readFileSync(join(folder, name), 'utf8').replaceAll('\r\n', '\n')
      const sha256 = createHash('sha256').update(text).digest('hex')
      return { number: Number(number), name: title, text, sha256 }
    })
    .sort((a, b) => a.number - b.number)
  const duplicate = migrations.find((m, i) => m.number === migrations[i + 1]?.number)
  if (duplicate) throw new Invalid(`Two migrations have the number ${duplicate.number}`)
  return migrations
}

/** The migrations still to apply. Throws Invalid for a database that these files cannot upgrade. */
async function findPending(tx: Transaction, migrations: Migration[], place: string) {
  const applied = await tx<AppliedRow[]>`
    select number, name, sha256
    from schema_migration
    order by number`
  return pendingAfter(applied, migrations, ['The database', place].filter(Boolean).join(' '))
}

function pendingAfter(
  applied: readonly AppliedRow[],
  migrations: Migration[],
  database: string,
): Migration[] {
  const byNumber = new Map(migrations.map(migration => [migration.number, migration]))
  const newestNumber = migrations.at(-1)?.number ?? 0
  for (const row of applied) {
    if (byNumber.get(row.number)?.sha256 === row.sha256) continue
    const file = fileName(row)
    // All of this version's migrations match: the others come from a later release.
    if (row.number > newestNumber)
      throw new Invalid(
        `${database} was upgraded by a newer version of Stackroom (${file}); install that version`,
      )
    throw new Invalid(
      `${database} was created by an unreleased development version of Stackroom ` +
        `(${file} differs) and cannot be upgraded; use a new data directory or an empty database`,
    )
  }
  const appliedNumbers = new Set(applied.map(row => row.number))
  return migrations.filter(migration => !appliedNumbers.has(migration.number))
}

async function lock(tx: Transaction): Promise<void> {
  await tx`select pg_advisory_xact_lock(${lockKey})`
}

async function apply(tx: Transaction, { number, name, text, sha256 }: Migration): Promise<void> {
  try {
    await tx.unsafe(text).simple()
  } catch (cause) {
    const { position, message } = cause as { position?: string; message: string }
    const line = position ? text.slice(0, Number(position) - 1).split('\n').length : null
    throw new Error(`${fileName({ number, name })}${line ? `:${line}` : ''}: ${message}`, { cause })
  }
  await tx`
    insert into schema_migration (number, name, sha256)
    values (${number}, ${name}, ${sha256})`
}

function fileName({ number, name }: { number: number; name: string }): string {
  return `${String(number).padStart(4, '0')}_${name}.sql`
}
