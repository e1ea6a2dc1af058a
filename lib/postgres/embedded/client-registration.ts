// A process's seat at the server: one idle connection that tells the others it is in use.
import { setTimeout as sleep } from 'node:timers/promises'
import { postgres } from '../driver.ts'

/** What postgres.js needs to connect; also what `Postgres.options` hands out. */
export type Address = {
  host: string
  port: number
  user: string
  password: string
  database: string
}

export type Seat = {
  dataDirectory: string
  /** How many other processes have a seat. */
  others(): Promise<number>
  leave(): Promise<void>
}

const seatName = 'stackroom seat'
// A backend's crash closes every connection; the next ping takes the seat again.
const pingMs = 5000
const cannotConnectNow = '57P03'

/** Takes a seat and makes `address.database` if it is missing. Rejects with the driver's error. */
export async function takeSeat(address: Address): Promise<Seat> {
  const sql = postgres({
    ...address,
    database: 'postgres',
    max: 1,
    idle_timeout: 0,
    max_lifetime: null,
    connect_timeout: 10,
    fetch_types: false,
    onnotice: () => {},
    connection: { application_name: seatName },
  })
  try {
    const [row] = await sql<{ directory: string; exists: boolean }[]>`
      select current_setting('data_directory') as directory,
        exists (select from pg_database where datname = ${address.database}) as exists`
    if (!row?.exists) await sql`create database ${sql(address.database)}`
    const ping = setInterval(() => void sql`select 1`.catch(() => {}), pingMs).unref()
    return {
      dataDirectory: row?.directory ?? '',
      others: async () => {
        const rows = await sql`
          select from pg_stat_activity
          where application_name = ${seatName} and pid <> pg_backend_pid()`
        return rows.length
      },
      leave: async () => {
        clearInterval(ping)
        await sql.end({ timeout: 2 })
      },
    }
  } catch (error) {
    await sql.end({ timeout: 0 })
    throw error
  }
}

/** What a failed `takeSeat` means: nobody listens, the server is not ready yet, or a refusal. */
export function whyNoSeat(error: unknown): 'absent' | 'not ready' | 'refused' {
  const code = (error as { code?: string }).code ?? ''
  if (code === cannotConnectNow) return 'not ready'
  const absent = ['ENOENT', 'ECONNREFUSED', 'ECONNRESET', 'CONNECTION_CLOSED', 'CONNECT_TIMEOUT']
  return absent.includes(code) ? 'absent' : 'refused'
}

/** As takeSeat, for a server that has just said it is ready. */
export async function takeFirstSeat(address: Address): Promise<Seat> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await takeSeat(address)
    } catch (error) {
      if (attempt === 20 || whyNoSeat(error) === 'refused') throw error
      await sleep(50)
    }
  }
}
