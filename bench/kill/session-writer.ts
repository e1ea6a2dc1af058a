// Sessions of an account that was offline: batches of any age in any order, some of them sent twice.

import { randomUUID } from 'node:crypto'
import type { FormatName } from '../../lib/media/format/formats.ts'
import { resolvePosition } from '../../lib/reading/position.ts'
import type { Sql } from '../../lib/store/postgres/db.ts'
import type { Writer, WriterContext } from './writer.ts'

const dayMs = 24 * 60 * 60_000
const kinds = ['progress', 'progress', 'progress', 'completed', 'reset'] as const

type Session = {
  id: string
  bookId: string
  deviceId: string
  kind: (typeof kinds)[number]
  toPage: number
  activeDurationMs: number
  clientStartedAt: string
  clientEndedAt: string
}

export function sessionWriter({ send, random, accountId, books }: WriterContext): Writer {
  const sent = new Map<string, Session>()
  const problems: string[] = []

  const session = (bookId: string): Session => {
    const endedAt = Date.now() - dayMs - random.below(60 * dayMs)
    const length = random.below(3_600_000)
    return {
      ...{ id: randomUUID(), bookId, deviceId: random.pick(['phone', 'tablet', 'browser']) },
      ...{ kind: random.pick(kinds), toPage: random.below(6), activeDurationMs: length },
      clientStartedAt: new Date(endedAt - length).toISOString(),
      clientEndedAt: new Date(endedAt).toISOString(),
    }
  }

  return {
    async write() {
      const followed = books()
      if (followed.length === 0) return
      const fresh = Array.from({ length: 1 + random.below(8) }, () =>
        session(random.pick(followed).id),
      )
      for (const one of fresh) sent.set(one.id, one)
      const again = random.some([...sent.values()].slice(-40), 4)
      const sessions = random.shuffled([...new Set([...fresh, ...again])])
      const path = '/api/v1/reading-sessions'
      const { status, body } = await send(path, { method: 'POST', body: { sessions } })
      const { accepted } = JSON.parse(body) as { accepted?: string[] }
      if (status !== 200 || accepted?.length !== sessions.length)
        problems.push(`${status} ${body.slice(0, 200)}`)
    },
    count: () => sent.size,
    async compare(sql) {
      const all = [...sent.values()]
      const expected = all.map(one => `${one.id} ${one.activeDurationMs}`)
      const rows = await sql<{ id: string; ms: number }[]>`
        select id, measured_ms::float8 as ms from reading_session
        where account_id = ${accountId} and is_session`
      const stored = new Set(rows.map(row => `${row.id} ${row.ms}`))
      const lost = expected.filter(one => !stored.has(one)).length
      if (lost > 0) problems.push(`${lost} sessions lost`)
      if (rows.length !== all.length)
        problems.push(`${rows.length} sessions are stored, ${all.length} were sent`)
      return [...problems, ...(await positionProblems(sql, accountId, all))]
    },
  }
}

/** The session that ended last decides the position. */
async function positionProblems(sql: Sql, accountId: string, sessions: readonly Session[]) {
  type Row = {
    id: string
    pageCount: number
    format: FormatName | null
    page: number | null
    isCompleted: boolean | null
  }
  const rows = await sql<Row[]>`
    select b.id, b.page_count as "pageCount", b.format, p.current_page as page, p.is_completed as "isCompleted"
    from book b left join progress p on p.account_id = ${accountId} and p.book_id = b.id
    where b.id = any(${sessions.map(({ bookId }) => bookId)}::uuid[])`
  const byBook = Map.groupBy(sessions, ({ bookId }) => bookId)
  return rows.flatMap(({ id, page, isCompleted, ...book }) => {
    const key = (one: Session) => `${one.clientEndedAt} ${one.id}`
    const newest = byBook.get(id)!.reduce((a, b) => (key(b) > key(a) ? b : a))
    const update = {
      currentPage: newest.toPage,
      completed: newest.kind === 'completed' || undefined,
    }
    const position = resolvePosition(update, book, null)
    const expected =
      newest.kind === 'reset' ? 'null null' : `${position.page} ${position.isCompleted}`
    return `${page} ${isCompleted}` === expected
      ? []
      : `book ${id} is at ${page} ${isCompleted} instead of ${expected}`
  })
}
