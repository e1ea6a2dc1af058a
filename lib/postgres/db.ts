// Opens PostgreSQL: an external one by its URL, or else the one that comes with Stackroom.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Options as DriverOptions, Sql as PostgresSql, TransactionSql } from 'postgres'
import type { Config } from '../config/config.ts'
import { Invalid } from '../errors.ts'
import type { Log } from '../log.ts'
import { postgres } from './driver.ts'
import { startPostgres } from './embedded/embedded.ts'

export type Sql = PostgresSql
/** A transaction: what `sql.begin` passes on. */
export type Transaction = TransactionSql
/** `url` connects other processes to the same database; it holds the password. */
export type Database = { sql: Sql; url: string; close(): Promise<void> }

type Options = { log?: Log | undefined; patienceMs?: number }

const oldest = 14
// A database container often starts beside ours and is a little slower.
const patience = 15_000
const laterCodes = [
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOTFOUND',
  'EAI_AGAIN',
  'CONNECT_TIMEOUT',
  '57P03',
]

/** Resolves when the database answers. Throws Invalid (unreachable, refused, too old) and what startPostgres throws. */
export async function openDatabase(
  config: Pick<Config, 'data_dir' | 'database'>,
  { log, patienceMs = patience }: Options = {},
): Promise<Database> {
  const { url, max_connections: max } = config.database
  const own = url === null ? await startPostgres({ dataDir: config.data_dir, log }) : null
  const target = url ?? own?.url ?? ''
  const sql = connect(target, { max })
  const close = async () => {
    await sql.end({ timeout: 5 })
    await own?.stop()
  }
  try {
    await firstAnswer(sql, patienceMs, log)
    return { sql, url: target, close }
  } catch (error) {
    await close()
    throw error
  }
}

/**
 * A pool that connects when first used. `?host=/directory` in the URL means a unix socket, as in
 * libpq. int8 arrives as a number: sizes and counts stay far below 2^53.
 */
export function connect(
  url: string,
  { max, name = 'stackroom' }: { max: number; name?: string },
): Sql {
  const { target, socket } = splitSocket(url)
  const sql = postgres(target, {
    ...socket,
    max,
    onnotice: () => {},
    connection: { application_name: name },
    types: { int8: { to: 20, from: [20], parse: Number, serialize: String } },
  })
  return sql as unknown as Sql
}

/**
 * The same database through a pool of its own, in which a statement runs for `forMs` at most (then it
 * fails with 57014). Transactions go through the pool given: they may take longer. Close it with `end`.
 */
export function bounded(sql: Sql, { forMs }: { forMs: number }): Sql {
  const { connection } = sql.options
  const own = postgres({
    ...sql.options,
    connection: { ...connection, statement_timeout: forMs },
  } as unknown as DriverOptions<Record<string, never>>) as unknown as Sql
  own.begin = sql.begin
  return own
}

/** A connection of its own, for locks that last as long as it does. `losses` counts how often it broke. */
export type Session = { sql: Sql; losses(): number; close(): Promise<void> }

/**
 * Opens one when it is first used. A connection of the pool would not do: whoever uses it next would
 * have the locks. `lost` is called when it breaks; a statement after that is run on a new one.
 */
export function openSession(sql: Sql, lost: () => void = () => {}): Session {
  let losses = 0
  let isClosing = false
  const own = postgres({
    ...sql.options,
    max: 1,
    idle_timeout: 0,
    max_lifetime: 0,
    onclose() {
      if (isClosing) return
      losses += 1
      lost()
    },
  } as unknown as DriverOptions<Record<string, never>>) as unknown as Sql
  return {
    sql: own,
    losses: () => losses,
    async close() {
      isClosing = true
      await own.end({ timeout: 1 })
    },
  }
}

/** The only row. A bug if there is none. */
export function one<T>(rows: readonly T[]): T {
  const [row] = rows
  if (row === undefined) throw new Error('expected a row')
  return row
}

/** The first row, or null. */
export function maybe<T>(rows: readonly T[]): T | null {
  return rows[0] ?? null
}

async function firstAnswer(sql: Sql, patienceMs: number, log?: Log): Promise<void> {
  const deadline = performance.now() + patienceMs
  for (;;) {
    try {
      const { version } = one(
        await sql<{ version: number }[]>`
          select current_setting('server_version_num')::int as version`,
      )
      const major = Math.floor(version / 10_000)
      if (major >= oldest) return
      throw new Invalid(`The database is PostgreSQL ${major}; Stackroom needs ${oldest} or newer`)
    } catch (error) {
      if (error instanceof Invalid) throw error
      const { code = 'error', message } = error as { code?: string; message: string }
      if (!laterCodes.includes(code) || performance.now() > deadline) {
        throw new Invalid(`The database cannot be used (${code}): ${message}`, { cause: error })
      }
      log?.warn({ code }, 'waiting for the database')
      await sleep(Math.min(1000, patienceMs))
    }
  }
}

// postgres.js would send an unknown `host` parameter to the server, which refuses it.
function splitSocket(url: string): { target: string; socket: { host?: string; port?: number } } {
  if (!/[?&]host=/.test(url)) return { target: url, socket: {} }
  const parsed = new URL(url)
  const host = parsed.searchParams.get('host') ?? ''
  const port = Number(parsed.searchParams.get('port') ?? (parsed.port || 5432))
  parsed.searchParams.delete('host')
  parsed.searchParams.delete('port')
  return { target: parsed.href, socket: { host, port } }
}
