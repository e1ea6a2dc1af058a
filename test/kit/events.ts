// Events read from the database: one object per event, ordered by number.
import type { Sql } from '../../lib/store/postgres/db.ts'

export type StoredEvent = {
  number: number
  type: string
  library: string | null
  series?: string
  book?: string
  fields?: string[]
  account?: string
  rating?: number | null
  tags?: string[]
  accounts?: string[]
}

/** The number of the last event. */
export async function lastEvent(sql: Sql): Promise<number> {
  const [row] = await sql<{ last: number }[]>`
    select coalesce(max(number), 0)::float8 as last from event`
  return row!.last
}

/** All events of books, series and libraries after a number. */
export async function eventsSince(sql: Sql, number = 0): Promise<StoredEvent[]> {
  const rows = await sql`
    select * from event where stream = 'entity' and number > ${number} order by number`
  return rows.flatMap(row =>
    Array.from({ length: row.count }, (_, i) => {
      const { ratings, tags, accounts } = row.audience ?? {}
      return {
        number: Number(row.number) - row.count + 1 + i,
        type: row.type,
        library: row.library_id,
        ...(row.series_ids ? { series: row.series_ids[i] } : {}),
        ...(row.book_ids ? { book: row.book_ids[i] } : {}),
        ...(row.fields ? { fields: row.fields } : {}),
        ...(row.account_id ? { account: row.account_id } : {}),
        ...(ratings ? { rating: ratings[i], tags: tags[i] } : {}),
        ...(accounts ? { accounts } : {}),
      }
    }),
  )
}

/** Messages of the task or scan stream after a number. */
export async function messagesSince(sql: Sql, stream: 'task' | 'scan', number = 0) {
  const rows = await sql<{ data: Record<string, any> }[]>`
    select data from event where stream = ${stream} and number > ${number} order by number`
  return rows.map(row => row.data)
}

/** The events of books, series and libraries that `work` causes, without their numbers. */
export async function eventsDuring(sql: Sql, work: () => Promise<unknown>) {
  const before = await lastEvent(sql)
  await work()
  const events = await eventsSince(sql, before)
  return events.map(({ number, ...event }) => event)
}
