// Limits of the reading ledger: sessions are refused first, then positions and marks; stored ones stay.
import { test } from 'tap'
import { newId } from '../../../lib/base/id.ts'
import type { Sql } from '../../../lib/store/postgres/db.ts'
import { insertBooks } from '../../kit/reading.ts'
import { startApiWithoutPipeline, type TestApi } from '../../kit/server.ts'

type Reader = Awaited<ReturnType<TestApi['createUser']>>

test('a flood of sessions ends at the limits of the account and of the book', async t => {
  const all = await startApiWithoutPipeline(t)
  const { books } = await insertBooks(all.sql, [100, 100])
  const [book, other] = books as [string, string]
  const session = (bookId = book) => {
    const at = new Date(Date.now() - 60_000).toISOString()
    const times = { clientStartedAt: at, clientEndedAt: at }
    return { id: newId(), bookId, deviceId: 'phone', kind: 'progress', ...times }
  }
  const send = async ({ post }: Reader, ...sessions: object[]) => {
    const { body } = await post('/reading-sessions', { sessions })
    const reasons = body.rejected.map(({ reason }: { reason: string }) => reason)
    return { accepted: body.accepted as string[], reasons: [...new Set(reasons)] }
  }
  const place = ({ put }: Reader, bookId = book) =>
    put(`/books/${bookId}/progress`, { currentPage: 7 })
  const refusal = (limit: number) => ({
    ...{ status: 409, body: { details: { reason: 'limit_reached', limit } } },
  })

  await t.test('of the account', async t => {
    const [flooded, reader] = [await all.createUser('reader'), await all.createUser('reader')]
    await fill(all.sql, { accountId: flooded.id, bookId: null, count: 99_999 })
    const last = session()
    t.same((await send(flooded, last)).accepted, [last.id])
    const more = Array.from({ length: 400 }, () => session())
    const { accepted, reasons } = await send(flooded, ...more, last)
    t.same(accepted, [last.id], 'a replay is accepted')
    t.same(reasons, ['limit_reached'])
    t.equal((await send(reader, session())).accepted.length, 1, 'other accounts are not affected')
    t.equal((await place(flooded)).status, 200, 'places are stored')

    t.equal((await flooded.post(`/books/${other}/read`)).status, 200, 'and marks')
    t.equal((await flooded.delete('/user/read-history')).status, 204)
    const erased = session()
    t.same((await send(flooded, erased)).accepted, [erased.id], 'after the history was erased')

    // A migrated reader of a large library has a mark for each of its books.
    const migrated = await all.createUser('reader')
    await fill(all.sql, {
      accountId: migrated.id,
      bookId: null,
      count: 100_001,
      areSessions: false,
    })
    const first = session()
    t.same((await send(migrated, first)).accepted, [first.id], 'marks do not count as sessions')
    t.equal((await place(migrated)).status, 200)
  })

  await t.test('of a book', async t => {
    const reader = await all.createUser('reader')
    await fill(all.sql, { accountId: reader.id, bookId: book, count: 10_000 })
    const [one, two] = [session(), session(other)]
    t.same(await send(reader, one, two), { accepted: [two.id], reasons: ['limit_reached'] })
    t.equal((await place(reader)).status, 200, 'places are stored')

    const full = await all.createUser('reader')
    await fill(all.sql, { accountId: full.id, bookId: book, count: 20_000 })
    t.match(await place(full), refusal(20_000))
    t.match(await full.post(`/books/${book}/read`), refusal(20_000))
    t.equal((await place(full, other)).status, 200)
  })
})

type Filling = { accountId: string; bookId: string | null; count: number; areSessions?: boolean }

/** Adds entries of a minute each, of books of their own without a book. */
async function fill(sql: Sql, { accountId, bookId, count, areSessions = true }: Filling) {
  await sql.begin(async tx => {
    // Without checks of references, which take most of the time.
    await tx`set local session_replication_role = replica`
    await tx`
      insert into reading_session (account_id, id, book_id, kind, surface, started_at, ended_at, is_session)
      select ${accountId}, gen_random_uuid(), coalesce(${bookId}::uuid, gen_random_uuid()), 'progress',
        'session', at, at, ${areSessions}
      from generate_series(1, ${count}) as n,
        lateral (select now() - make_interval(mins => n + 2)) as t(at)`
  })
  await sql`analyze reading_session`
}
