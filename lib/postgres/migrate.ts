// Applies sql/NNNN_name.sql in order, forward only.
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Invalid } from '../errors.ts'
import type { Sql, Transaction } from './db.ts'

export type Migration = { number: number; name: string; text: string; sha256: string }
export type Applied = { number: number; name: string; ms: number }

// Any number that no one else uses; the lock serialises the servers that start at the same time.
const lockKey = 0x57ac_c001
const pattern = /^(\d{4})_([a-z0-9_]+)\.sql$/
/** Kept beside the migrations for a test to compare; never applied. */
const dump = 'schema.sql'

export const migrationFolder = join(import.meta.dirname, '..', '..', 'sql')

/**
 * Brings the database up to date and returns what was applied, each file in a transaction of its
 * own. Throws Invalid when the database was migrated by other files than these; an Error with file
 * and line when a statement fails.
 */
export async function migrate(sql: Sql, folder = migrationFolder): Promise<Applied[]> {
  const migrations = readMigrations(folder)
  const applied: Applied[] = []
  await sql.begin(async tx => {
    await lock(tx)
    await tx`
      create table if not exists schema_migration (
        number int primary key,
        name text not null,
        sha256 text not null,
        applied_at timestamptz not null default now()
      )`
    await pending(tx, migrations)
  })
  for (const migration of migrations) {
    const start = performance.now()
    const isNew = await sql.begin(async tx => {
      await lock(tx)
      if (!(await pending(tx, migrations)).includes(migration)) return false
      await apply(tx, migration)
      return true
    })
    const { number, name } = migration
    if (isNew) applied.push({ number, name, ms: Math.round(performance.now() - start) })
  }
  return applied
}

/** The files of `folder` by number. Throws Invalid for a name or number that cannot be. */
export function readMigrations(folder: string): Migration[] {
  const names = existsSync(folder) ? readdirSync(folder) : []
  const migrations = names
    .filter(name => name.endsWith('.sql') && name !== dump)
    .map(name => {
      const [, number, title] = pattern.exec(name) ?? []
      if (!number || !title) throw new Invalid(`${name} is not named like 0001_name.sql`)
      // Git on Windows may have changed the line ends.
      const text = readFileSync(join(folder, name), 'utf8').replaceAll('\r\n', '\n')
      const sha256 = createHash('sha256').update(text).digest('hex')
      return { number: Number(number), name: title, text, sha256 }
    })
    .sort((a, b) => a.number - b.number)
  const twice = migrations.find((m, i) => m.number === migrations[i + 1]?.number)
  if (twice) throw new Invalid(`Two migrations have the number ${twice.number}`)
  return migrations
}

async function pending(tx: Transaction, migrations: Migration[]): Promise<Migration[]> {
  const rows = await tx<{ number: number; name: string; sha256: string }[]>`
    select number, name, sha256
    from schema_migration
    order by number`
  const known = new Map(migrations.map(m => [m.number, m]))
  for (const row of rows) {
    const migration = known.get(row.number)
    const file = `${String(row.number).padStart(4, '0')}_${row.name}.sql`
    if (!migration) {
      throw new Invalid(
        `The database is newer than this Stackroom (it has ${file}); install the newer one again`,
      )
    }
    if (migration.sha256 !== row.sha256) {
      throw new Invalid(`${file} was changed after it was applied; add a new migration instead`)
    }
  }
  const done = new Set(rows.map(row => row.number))
  return migrations.filter(m => !done.has(m.number))
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
    const file = `${String(number).padStart(4, '0')}_${name}.sql`
    throw new Error(`${file}${line ? `:${line}` : ''}: ${message}`, { cause })
  }
  await tx`
    insert into schema_migration (number, name, sha256)
    values (${number}, ${name}, ${sha256})`
}
