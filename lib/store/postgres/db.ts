// Database connection pools: an external PostgreSQL by its URL, otherwise the bundled server.
import { resolve } from 'node:path'
import type { Sql as PostgresSql, TransactionSql } from 'postgres'
import type { Log } from '../../base/log.ts'
import type { Config } from '../config/config.ts'
import { type DriverOptions, postgres } from './driver.ts'
import { startPostgres } from './embedded/embedded.ts'
import { createListening } from './listening.ts'
import { isEncryptionRefused, whenReady } from './ready.ts'
import { checkRequirements } from './requirements.ts'
import { socketPath, type Target } from './sockets.ts'
import type { Encryption } from './tls.ts'
import { type DatabaseUrl, parseDatabaseUrl } from './url.ts'

export type Sql = PostgresSql
/** A transaction, as passed to the callback of `sql.begin`. */
export type Transaction = TransactionSql
/** The pool or a transaction. */
export type Queryable = Sql | Transaction
/** `url` connects other processes to the same database; it contains the password. */
/** `place` follows "the database" in messages. `close` waits up to `seconds` for running statements. */
export type Database = {
  sql: Sql
  url: string
  place: string
  close(seconds?: number): Promise<void>
}

type PoolChanges = {
  max: number
  connection: Record<string, string | number>
  responseTimeoutMs?: number
}
type Options = { log?: Log | undefined; signal?: AbortSignal | undefined }

// The driver's default waits up to 20 seconds between two connection attempts.
const maxBackoffSeconds = 0.25
const connectTimeoutSeconds = 10

/**
 * Resolves when the database is ready. Throws Invalid (unreachable, refused, unsuitable), errors from
 * startPostgres, and the reason of `signal` if it aborts while waiting.
 */
export async function openDatabase(
  config: Pick<Config, 'data_dir' | 'database'>,
  { log, signal }: Options = {},
): Promise<Database> {
  const { url, max_connections: max, wait_seconds } = config.database
  const patience = { waitMs: wait_seconds * 1000, log, signal }
  if (url !== null) {
    const sql = await openExternal(url, { max, ...patience })
    const place = `${sql.options.database} at ${addressOf(sql)}`
    return { sql, url, place, close: (seconds = 5) => sql.end({ timeout: seconds }) }
  }
  const bundled = await startPostgres({ dataDir: config.data_dir, log })
  const sql = connect(bundled.url, { max })
  const close = async (seconds = 5) => {
    await sql.end({ timeout: seconds })
    await bundled.stop()
  }
  try {
    await whenReady(async () => void (await sql`select 1`), {
      ...patience,
      address: addressOf(sql),
    })
    const place = `in ${resolve(config.data_dir)}`
    return { sql, url: bundled.url, place, close }
  } catch (error) {
    await close(0)
    throw error
  }
}

type Patience = { waitMs: number; log?: Log | undefined; signal?: AbortSignal | undefined }

/**
 * Connects with the first encryption that the server accepts; otherwise throws the most informative failure.
 */
async function openExternal(url: string, options: Patience & { max: number }): Promise<Sql> {
  const target = parseDatabaseUrl(url)
  const failures: unknown[] = []
  for (const encryption of target.encryptions) {
    const sql = connectTo(target, encryption, options)
    try {
      const patience = { ...options, address: addressOf(sql) }
      await whenReady(
        () => checkRequirements(() => openDedicatedConnection(sql), options),
        patience,
      )
      return sql
    } catch (error) {
      await sql.end({ timeout: 0 })
      failures.push(error)
      if (!isEncryptionRefused((error as Error).cause)) throw error
    }
  }
  throw failures[0]
}

/** Where a pool connects to, without user and password. */
function addressOf({ options }: Sql): string {
  const { hosts } = (options as unknown as { target: Target }).target
  return hosts
    .map(({ name, port }) => (name.startsWith('/') ? socketPath(name, port) : `${name}:${port}`))
    .join(', ')
}

type PoolOptions = { max: number; name?: string }

/**
 * A pool that connects on first use. Throws Invalid for a malformed URL. Parses int8 as a number: sizes and
 * counts stay far below 2^53.
 */
export function connect(url: string, options: PoolOptions): Sql {
  const target = parseDatabaseUrl(url)
  return connectTo(target, target.encryptions[0]!, options)
}

function connectTo(
  { options }: DatabaseUrl,
  encryption: Encryption,
  { max, name = 'stackroom' }: PoolOptions,
): Sql {
  const int8 = { to: 20, from: [20], parse: Number, serialize: String }
  return openPool({
    connect_timeout: connectTimeoutSeconds,
    ...options,
    ssl: encryption,
    max,
    onnotice: () => {},
    backoff: (failures: number) => Math.min(maxBackoffSeconds, failures * 0.05),
    // JIT compilation takes up to 2 s for lists that take 50 ms; it is on by default on other servers.
    connection: { application_name: name, jit: 'off', ...options.connection },
    types: { int8 },
  } as unknown as DriverOptions)
}

/** A pool of the driver whose `listen` survives connection losses of any duration. */
function openPool(options: DriverOptions): Sql {
  const pool = postgres(options) as unknown as Sql
  const listening = createListening(pool.options as unknown as DriverOptions)
  const { end } = pool
  return Object.assign(pool, {
    listen: listening.listen,
    async end(timeout?: { timeout?: number }) {
      await Promise.all([listening.close(), end(timeout)])
    },
  }) as Sql
}

// A connection that stays silent for this long beyond the statement timeout is considered lost.
const responseSlackMs = 10_000

/**
 * A second pool to the same database, for requests. Statements have a timeout (error 57014), and a commit is
 * on disk before it is acknowledged, which the bundled server does not do for background work. A connection
 * that exceeds even the timeout without a response is given up (CONNECTION_CLOSED): networks can drop
 * connections without an error. Transactions run in the original pool, without timeouts. Close it with `end`.
 */
export function forRequests(sql: Sql, { timeoutMs }: { timeoutMs: number }): Sql {
  const { connection } = sql.options
  const pool = openPool({
    ...sql.options,
    connection: { ...connection, statement_timeout: timeoutMs, synchronous_commit: 'on' },
    response_timeout: (timeoutMs + responseSlackMs) / 1000,
  } as unknown as DriverOptions)
  const begin = (work: (tx: Transaction) => unknown) =>
    sql.begin(tx => {
      // Sent together with the transaction's first statement.
      tx`set local synchronous_commit = on`.catch(() => {})
      return work(tx)
    })
  pool.begin = begin as Sql['begin']
  return pool
}

/**
 * A pool to the same database with the same settings, but `max` connections and some different parameters.
 * `responseTimeoutMs` is the maximum silence of a connection, for statements that are always short.
 */
export function connectionsLike(
  sql: Sql,
  { max, connection, responseTimeoutMs }: PoolChanges,
): Sql {
  const { options } = sql
  return openPool({
    ...options,
    ...(responseTimeoutMs && { response_timeout: responseTimeoutMs / 1000 }),
    max,
    connection: { ...options.connection, ...connection },
  } as unknown as DriverOptions)
}

/** A connection for session-level locks. `lossCount` is how often the connection has been lost. */
export type DedicatedConnection = { sql: Sql; lossCount(): number; close(): Promise<void> }

/**
 * Connects on first use. A pool connection would not do: its next user would inherit the locks. `onLoss` is
 * called when the connection is lost; later statements run on a new one.
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
    onloss() {
      if (isClosing) return
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
