// Reading statistics against tables calculated by hand.
import { test } from 'tap'
import { newId } from '../../../lib/base/id.ts'
import { hideSeries } from '../../kit/accounts.ts'
import { insertBooks } from '../../kit/reading.ts'
import { startApi } from '../../kit/server.ts'

const minute = 60_000

test('reading statistics', async t => {
  const all = await startApi(t)
  const first = await insertBooks(all.sql, [100, 100], 'Akira')
  const second = await insertBooks(all.sql, [100], 'Berserk')
  const [one, two] = first.books as [string, string]
  const [three] = second.books as [string]
  type Session = [book: string, start: string, minutes: number, fields?: object]

  async function reading(sessions: Session[]) {
    const reader = await all.createUser('reader')
    const { status, body } = await reader.post('/reading-sessions', {
      sessions: sessions.map(([bookId, start, minutes, fields]) => ({
        ...{ id: newId(), bookId, deviceId: 'tablet', deviceName: 'My tablet', kind: 'progress' },
        ...{ activeDurationMs: minutes * minute, pagesRead: minutes, toPage: 50 },
        clientStartedAt: start,
        clientEndedAt: new Date(Date.parse(start) + minutes * minute).toISOString(),
        ...fields,
      })),
    })
    t.same([status, body.rejected], [200, []])
    return {
      ...reader,
      stats: async (query: string) => {
        const response = await reader.get(`/reading-stats?${query}`)
        t.equal(response.status, 200, JSON.stringify(response.body))
        return response.body
      },
    }
  }
  const measured = (minutes: number) => ({
    ...{ inferredMs: 0, measuredMs: minutes * minute, totalMs: minutes * minute },
  })
  const period = (bucket: string, sessions: number, minutes: number, finished = 0) => ({
    ...{ bucket, sessions, duration: measured(minutes), pagesRead: minutes },
    booksFinished: finished,
  })

  await t.test(
    'days of two time zones, a sitting over midnight, a change to summer time',
    async t => {
      // On 2015-03-29 clocks in Berlin go from 02:00 to 03:00, at 01:00 UTC.
      const reader = await reading([
        [one, '2015-03-28T22:30:00Z', 45],
        [one, '2015-03-28T23:30:00Z', 20],
        [one, '2015-03-29T00:59:00Z', 2],
        [two, '2015-03-29T21:59:00Z', 1],
        [two, '2015-03-29T22:00:00Z', 4],
      ])
      const window = 'from=2015-03-01&to=2015-04-01'
      t.same((await reader.stats(window)).periods, [
        period('2015-03-28', 2, 65),
        period('2015-03-29', 3, 7),
      ])
      t.same((await reader.stats(`${window}&timeZone=Europe/Berlin`)).periods, [
        period('2015-03-28', 1, 45),
        period('2015-03-29', 3, 23),
        period('2015-03-30', 1, 4),
      ])
      // The day of the change has 23 hours.
      const day = await reader.stats('from=2015-03-29&to=2015-03-30&timeZone=Europe/Berlin')
      t.match(day, { from: '2015-03-28T23:00:00.000Z', to: '2015-03-29T22:00:00.000Z' })
      t.match(day.summary, { sessions: 3, books: 2, duration: measured(23) })
    },
  )

  await t.test('weeks start on Monday, and months on their first day', async t => {
    const reader = await reading([
      [one, '2015-02-22T23:59:59Z', 1],
      [one, '2015-02-23T00:00:00Z', 2],
      [one, '2015-02-28T23:59:59Z', 4],
      [two, '2015-03-01T00:00:00Z', 8],
      [two, '2015-03-02T00:00:00Z', 16],
    ])
    const window = 'from=2015-01-01&to=2015-04-01'
    t.same((await reader.stats(`${window}&granularity=week`)).periods, [
      period('2015-02-16', 1, 1),
      period('2015-02-23', 3, 14),
      period('2015-03-02', 1, 16),
    ])
    const monthly = await reader.stats(`${window}&granularity=month`)
    t.equal(monthly.granularity, 'month')
    t.same(monthly.periods, [period('2015-02-01', 3, 7), period('2015-03-01', 2, 24)])
    t.same((await reader.stats(`${window}&granularity=month&fill=true`)).periods, [
      period('2015-01-01', 0, 0),
      period('2015-02-01', 3, 7),
      period('2015-03-01', 2, 24),
    ])
  })

  await t.test('re-reads, sittings without a duration or a page count', async t => {
    const reader = await reading([
      [one, '2015-05-01T10:00:00Z', 10, { kind: 'completed', toPage: null }],
      [one, '2015-05-02T10:00:00Z', 5, { toPage: 1, activeDurationMs: null }],
      [one, '2015-05-03T10:00:00Z', 20, { kind: 'completed', pagesRead: null }],
      [one, '2015-05-04T10:00:00Z', 30, { kind: 'completed', activeDurationMs: 90 * minute }],
      [three, '2015-05-04T12:00:00Z', 7, { deviceId: 'phone', deviceName: null }],
      [three, '2015-05-05T12:00:00Z', 0, { kind: 'reset' }],
    ])
    const { summary, series, formats, devices } = await reader.stats(
      'from=2015-05-01&to=2015-06-01',
    )
    t.same(summary, {
      ...{ books: 2, booksFinished: 2, duration: measured(67), pagesRead: 52, sessions: 5 },
      ...{ sessionsWithoutDuration: 1, sessionsWithoutPages: 1 },
    })
    const akira = { booksFinished: 2, duration: measured(60), pagesRead: 45, sessions: 4 }
    const berserk = { booksFinished: 0, duration: measured(7), pagesRead: 7, sessions: 1 }
    t.same(series, [
      { seriesId: first.series, seriesName: 'Akira', books: 1, ...akira },
      { seriesId: second.series, seriesName: 'Berserk', books: 1, ...berserk },
    ])
    t.same(formats, [
      { format: 'cbz', booksFinished: 2, duration: measured(67), pagesRead: 52, sessions: 5 },
    ])
    t.same(devices, [
      {
        deviceId: 'tablet',
        deviceName: 'My tablet',
        lastReadAt: '2015-05-04T10:30:00.000Z',
        ...akira,
      },
      { deviceId: 'phone', deviceName: null, lastReadAt: '2015-05-04T12:07:00.000Z', ...berserk },
    ])
    t.equal((await reader.stats('from=2015-05-01&to=2015-06-01&seriesLimit=-3')).series.length, 1)
    t.same((await reader.get('/reading-stats/coverage')).body, {
      firstReadAt: '2015-05-01T10:00:00.000Z',
      lastReadAt: '2015-05-04T12:07:00.000Z',
    })
  })

  await t.test(
    'time between positions is inferred, and not counted beside measured time',
    async t => {
      const reader = await reading([[two, '2015-06-01T10:10:00Z', 10, { deviceId: 'app' }]])
      const at = async (time: string, page: number, device = 'app') => {
        const body = { currentPage: page, modified: `2015-06-01T${time}:00Z` }
        const headers = { 'x-device-id': device }
        t.equal(
          (await reader.request('PUT', `/books/${two}/progress`, { body, headers })).status,
          200,
        )
      }
      // 09:58 to 10:23 is one sitting, and ten minutes of it are measured.
      for (const time of ['09:58', '10:02', '10:07', '10:12', '10:17', '10:19', '10:23'])
        await at(time, 20)
      // A sitting of its own on each device, and a position that has no duration.
      for (const time of ['10:30', '10:34']) await at(time, 30)
      await at('10:34', 31, 'other')
      const { summary, devices } = await reader.stats('from=2015-06-01&to=2015-06-02')
      t.match(summary, {
        ...{ sessions: 3, sessionsWithoutDuration: 2, sessionsWithoutPages: 2 },
        duration: { measuredMs: 10 * minute, inferredMs: 19 * minute, totalMs: 29 * minute },
      })
      t.match(devices, [
        { deviceId: 'app', sessions: 2 },
        { deviceId: 'other', sessions: 1, duration: measured(0) },
      ])
    },
  )

  await t.test('books that are marked as read are finished, and are no sittings', async t => {
    const reader = await all.createUser('reader')
    await reader.post(`/series/${first.series}/read`)
    await reader.post(`/series/${first.series}/read`)
    const { body } = await reader.get('/reading-stats')
    t.match(body.summary, { booksFinished: 2, sessions: 0, books: 2, duration: measured(0) })
    t.match(body.series, [{ seriesName: 'Akira', booksFinished: 2, books: 2, sessions: 0 }])
  })

  await t.test('hidden and deleted books count in totals and have no name', async t => {
    const gone = await insertBooks(all.sql, [10], 'Gone')
    const reader = await reading([
      [one, '2015-05-01T10:00:00Z', 10],
      [three, '2015-05-01T11:00:00Z', 10],
      [gone.books[0]!, '2015-05-01T12:00:00Z', 10, { kind: 'completed' }],
    ])
    await hideSeries(all.sql, reader.id, [second.series])
    await all.sql`delete from book where id = ${gone.books[0]!}`
    const { summary, series, formats } = await reader.stats('from=2015-05-01&to=2015-05-02')
    t.match(summary, { sessions: 3, books: 3, booksFinished: 1, duration: measured(30) })
    t.match(series, [{ seriesName: 'Akira' }])
    t.equal(series.length, 1)
    t.match(formats, [
      { format: 'cbz', sessions: 2 },
      { format: 'unknown', sessions: 1 },
    ])
    const exported = (await reader.get('/user/reading-export')).body.entries
    t.same(exported.map((entry: any) => entry.seriesTitle).sort(), ['Akira', null, null, null])
  })

  await t.test('invalid windows and time zones are rejected; an empty window is empty', async t => {
    const reader = await all.createUser('reader')
    for (const query of [
      'from=2015-05-02&to=2015-05-01',
      'from=yesterday',
      'to=0001-01-01',
      'from=0001-01-01&timeZone=Asia/Tokyo',
      'from=2015-02-30',
      'to=2015-13-01T00:00:00Z',
      'timeZone=Mars/Olympus',
      'timeZone=%2B01:00',
      // Known to Node.js only, to PostgreSQL only.
      'timeZone=US/Pacific-New',
      'timeZone=posix/Europe/Berlin',
      'granularity=year',
      'sort=name',
      'fill=true&from=1990-01-01',
    ])
      t.equal((await reader.get(`/reading-stats?${query}`)).status, 400, query)
    const { body } = await reader.get('/reading-stats?from=2015-05-01&to=2015-05-01&fill=true')
    t.match(body, { periods: [], series: [], formats: [], devices: [] })
    t.match(body.summary, { books: 0, sessions: 0, booksFinished: 0 })
    t.same((await reader.get('/reading-stats/coverage')).body, {
      firstReadAt: null,
      lastReadAt: null,
    })
  })

  await t.test('administrators see totals without names, readers do not', async t => {
    const reader = await all.createUser('reader')
    const admin = await all.createUser('admin')
    t.equal((await reader.get('/reading-stats/totals')).status, 403)
    const { status, body } = await admin.get('/reading-stats/totals?from=2015-03-01&to=2015-04-01')
    t.equal(status, 200)
    t.match(body, { users: 2, books: 2, sessions: 7, pagesRead: 96, duration: measured(96) })
    t.notMatch(JSON.stringify(body), /Akira|tablet/)
  })
})
