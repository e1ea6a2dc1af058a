// Client registration with the bundled server: an idle connection per process marks the server as in use.
import { setTimeout as sleep } from 'node:timers/promises'
import { type DriverOptions, postgres } from '../driver.ts'

/** Connection options of postgres.js. */
export type ConnectionOptions = {
  host: string
  port: number
  user: string
  password: string
  database: string
}

export type ClientRegistration = {
  dataDirectory: string
  /** Number of other registered processes. */
  countOthers(): Promise<number>
  unregister(): Promise<void>
}

const clientName = 'stackroom client'
// After a loss the next ping registers the process again, unless `onLoss` replaces the registration.
const pingMs = 5000
const cannotConnectNow = '57P03'

/**
 * Registers this process, and creates the database if it is missing. Rejects with the driver's error.
 * `onLoss` is called when the connection is lost: the server has ended, or has closed all connections to
 * recover.
 */
export async function registerClient(
  options: ConnectionOptions,
  onLoss: () => void = () => {},
): Promise<ClientRegistration> {
  let isRegistered = false
  const sql = postgres({
    ...options,
    database: 'postgres',
    max: 1,
    idle_timeout: 0,
    max_lifetime: null,
    connect_timeout: 10,
    fetch_types: false,
    onnotice: () => {},
    backoff: () => 0.25,
    connection: { application_name: clientName },
    onloss: () => isRegistered && onLoss(),
  } as unknown as DriverOptions)
  try {
    const [row] = await sql<{ directory: string; exists: boolean }[]>`
      select current_setting('data_directory') as directory,
        exists (select from pg_database where datname = ${options.database}) as exists`
    if (!row?.exists) await sql`create database ${sql(options.database)}`
    isRegistered = true
    const ping = setInterval(() => void sql`select 1`.catch(() => {}), pingMs).unref()
    return {
      dataDirectory: row?.directory ?? '',
      countOthers: async () => {
        const rows = await sql`
          select from pg_stat_activity
          where application_name = ${clientName} and pid <> pg_backend_pid()`
        return rows.length
      },
      unregister: async () => {
        isRegistered = false
        clearInterval(ping)
        await sql.end({ timeout: 2 })
      },
    }
  } catch (error) {
    await sql.end({ timeout: 0 })
    throw error
  }
}

/** Classifies an error of `registerClient`: no server is listening, it is starting up, or it refused. */
export function classifyConnectError(error: unknown): 'absent' | 'not ready' | 'refused' {
  const code = (error as { code?: string }).code ?? ''
  if (code === cannotConnectNow) return 'not ready'
  const absent = ['ENOENT', 'ECONNREFUSED', 'ECONNRESET', 'CONNECTION_CLOSED', 'CONNECT_TIMEOUT']
  return absent.includes(code) ? 'absent' : 'refused'
}

/** registerClient with retries, for a server that has just reported to be ready. */
export async function registerFirstClient(
  options: ConnectionOptions,
  onLoss?: () => void,
): Promise<ClientRegistration> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await registerClient(options, onLoss)
    } catch (error) {
      if (attempt === 20 || classifyConnectError(error) === 'refused') throw error
      await sleep(50)
    }
  }
}
