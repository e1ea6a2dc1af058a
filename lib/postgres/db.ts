// Database connection pools: an external PostgreSQL by its URL, otherwise the bundled server.
import { resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Sql as PostgresSql, TransactionSql } from 'postgres'
import type { Config } from '../config/config.ts'
import { Invalid } from '../errors.ts'
import type { Log } from '../log.ts'
import { isConnectionLost } from './connection-error.ts'
import { type DriverOptions, postgres } from './driver.ts'
import { startPostgres } from './embedded/embedded.ts'
import { createListening } from './listening.ts'

export type Sql = PostgresSql
/** A transaction: the argument of the callback of `sql.begin`. */
export type Transaction = TransactionSql
/** The pool or a transaction. */
export type Queryable = Sql | Transaction
/** `url` connects other processes to the same database; it contains the password. */
/** `place` names it in messages. */
export type Database = { sql: Sql; url: string; place: string; close(): Promise<void> }

type PoolChanges = {
  max: number
  connection: Record<string, string | number>
  responseTimeoutMs?: number
}
type Options = { log?: Log | undefined; patienceMs?: number; signal?: AbortSignal }

const minMajorVersion = 14
// A database container started together with this process may become ready later.
const connectPatienceMs = 15_000
// By default the driver waits up to 20 seconds between two attempts to connect.
const maxBackoffSeconds = 0.25
const connectTimeoutSeconds = 10

/** Resolves when the database is ready. Throws Invalid (unreachable, refused, too old) and what startPostgres throws. */
export async function openDatabase(
  config: Pick<Config, 'data_dir' | 'database'>,
  { log, patienceMs = connectPatienceMs }: Options = {},
): Promise<Database> {
  const { url, max_connections: max } = config.database
  const bundled = url === null ? await startPostgres({ dataDir: config.data_dir, log }) : null
  const target = url ?? bundled?.url ?? ''
  const sql = connect(target, { max })
  const close = async () => {
    await sql.end({ timeout: 5 })
    await bundled?.stop()
  }
  try {
    await waitUntilReady(sql, patienceMs, log)
    const place = url === null ? `in ${resolve(config.data_dir)}` : `at ${addressOf(sql)}`
    return { sql, url: target, place, close }
  } catch (error) {
    await close()
    throw error
  }
}

/** Where a pool connects to, without user and password. */
function addressOf({ options }: Sql): string {
  const { path, host, port } = options as unknown as {
    path: string | false
    host: string[]
    port: number[]
  }
  return path || host.map((name, i) => `${name}:${port[i]}`).join(', ')
}

/**
 * A pool that connects on first use. `?host=/directory` in the URL selects a unix socket, as in libpq.
 * int8 is parsed as a number: sizes and counts stay far below 2^53.
 */
export function connect(
  url: string,
  { max, name = 'stackroom' }: { max: number; name?: string },
): Sql {
  const { target, socket } = splitSocket(url)
  const int8 = { to: 20, from: [20], parse: Number, serialize: String }
  return openPool(target, {
    ...socket,
    max,
    onnotice: () => {},
    backoff: (failures: number) => Math.min(maxBackoffSeconds, failures * 0.05),
    connect_timeout: connectTimeoutSeconds,
    // Compilation of statements takes up to 2 s of lists that take 50 ms; other servers have it on by default.
    connection: { application_name: name, jit: 'off' },
    types: { int8 },
  } as unknown as DriverOptions)
}

/** A pool of the driver whose `listen` survives losses of any duration. */
function openPool(target: string | null, options: DriverOptions): Sql {
  const pool = (target === null ? postgres(options) : postgres(target, options)) as unknown as Sql
  const listening = createListening(pool.options as unknown as DriverOptions)
  const { end } = pool
  return Object.assign(pool, {
    listen: listening.listen,
    async end(timeout?: { timeout?: number }) {
      await Promise.all([listening.close(), end(timeout)])
    },
  }) as Sql
}

// A connection that stays silent for this long after the statement timeout is lost.
const responseSlackMs = 10_000

/**
 * A second pool of the same database for requests: with a statement timeout (error 57014), and a commit is on
 * disk before it is acknowledged, which the bundled server does not do for background work. A connection that does
 * not even respond with the timeout is given up (CONNECTION_CLOSED): a network can lose one without an error.
 * Transactions run in the original pool, without the timeouts. Close it with `end`.
 */
export function forRequests(sql: Sql, { timeoutMs }: { timeoutMs: number }): Sql {
  const { connection } = sql.options
  const pool = openPool(null, {
    ...sql.options,
    connection: { ...connection, statement_timeout: timeoutMs, synchronous_commit: 'on' },
    response_timeout: (timeoutMs + responseSlackMs) / 1000,
  } as unknown as DriverOptions)
  const begin = (work: (tx: Transaction) => unknown) =>
    sql.begin(tx => {
      // Sent together with the first statement of the transaction.
      tx`set local synchronous_commit = on`.catch(() => {})
      return work(tx)
    })
  pool.begin = begin as Sql['begin']
  return pool
}

/**
 * A pool of the same database and settings with `max` connections and some other parameters. `responseTimeoutMs` is
 * the longest silence of a connection, for statements that are always short.
 */
export function connectionsLike(
  sql: Sql,
  { max, connection, responseTimeoutMs }: PoolChanges,
): Sql {
  const { options } = sql
  return openPool(null, {
    ...options,
    ...(responseTimeoutMs && { response_timeout: responseTimeoutMs / 1000 }),
    max,
    connection: { ...options.connection, ...connection },
  } as unknown as DriverOptions)
}

/** A connection for session-level locks. `lossCount` is how often the connection was lost. */
export type DedicatedConnection = { sql: Sql; lossCount(): number; close(): Promise<void> }

/**
 * Connects on first use. A pool connection would not do: its next user would inherit the locks.
 * `onLoss` is called when the connection is lost; later statements run on a new one.
 */
export function openDedicatedConnection(
  sql: Sql,
  onLoss: () => void = () => {},
): DedicatedConnection {
  let lossCount = 0
  let isClosing = false
  const connection = postgres({
    ...sql.options,
    max: 1,
    idle_timeout: 0,
    max_lifetime: 0,
    // Attempts to connect that fail are no losses.
    onclose(_id: number, wasOpen: boolean) {
      if (isClosing || !wasOpen) return
      lossCount += 1
      onLoss()
    },
  } as unknown as DriverOptions) as unknown as Sql
  return {
    sql: connection,
    lossCount: () => lossCount,
    async close() {
      isClosing = true
      await connection.end({ timeout: 1 })
    },
  }
}

/** The first row. Throws an Error (a bug) if there is none. */
export function one<T>(rows: readonly T[]): T {
  const [row] = rows
  if (row === undefined) throw new Error('expected a row')
  return row
}

/** The first row, or null. */
export function maybe<T>(rows: readonly T[]): T | null {
  return rows[0] ?? null
}

async function waitUntilReady(sql: Sql, patienceMs: number, log?: Log): Promise<void> {
  const deadline = performance.now() + patienceMs
  for (;;) {
    try {
      const { version } = one(
        await sql<{ version: number }[]>`
          select current_setting('server_version_num')::int as version`,
      )
      const major = Math.floor(version / 10_000)
      if (major >= minMajorVersion) return
      throw new Invalid(
        `The database is PostgreSQL ${major}; Stackroom requires ${minMajorVersion} or newer`,
      )
    } catch (error) {
      if (error instanceof Invalid) throw error
      const { code = 'error', message } = error as { code?: string; message: string }
      if (!isConnectionLost(error) || performance.now() > deadline) {
        throw new Invalid(
          `Cannot connect to the database at ${addressOf(sql)} (${code}): ${message}`,
          { cause: error },
        )
      }
      log?.warn({ code, address: addressOf(sql) }, 'waiting for the database')
      await sleep(Math.min(1000, patienceMs))
    }
  }
}

// postgres.js would send the unknown parameter `host` to the server, which rejects it.
function splitSocket(url: string): { target: string; socket: { host?: string; port?: number } } {
  if (!/[?&]host=/.test(url)) return { target: url, socket: {} }
  const parsed = new URL(url)
  const host = parsed.searchParams.get('host') ?? ''
  const port = Number(parsed.searchParams.get('port') ?? (parsed.port || 5432))
  parsed.searchParams.delete('host')
  parsed.searchParams.delete('port')
  return { target: parsed.href, socket: { host, port } }
}
