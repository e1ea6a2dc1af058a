// Event stream of the Komga-compatible API: names and data of events, the state of the tasks, visibility.
import { test } from 'tap'
import { newId } from '../../../../lib/base/id.ts'
import { publish } from '../../../../lib/store/event/publish.ts'
import { createReceiver, enableKomga } from '../../../kit/komga.ts'
import { startApiWithoutPipeline } from '../../../kit/server.ts'

test('events', async t => {
  const all = await startApiWithoutPipeline(t, {}, { statusMs: 50 })
  const admin = await all.createUser('admin')
  const reader = await all.createUser('reader')
  await enableKomga(admin)
  const open = async (key: string) => {
    const controller = new AbortController()
    t.teardown(() => controller.abort())
    const url = `${all.base}/komga/sse/v1/events`
    const { signal } = controller
    const response = await fetch(url, { headers: { 'x-api-key': key }, signal })
    t.equal(response.headers.get('content-type'), 'text/event-stream; charset=utf-8')
    return createReceiver(response)
  }
  const [first, second] = [await open(admin.key), await open(reader.key)]
  const [libraryId, seriesId, bookId] = [newId(), newId(), newId()]
  const books = [{ id: bookId, seriesId }]
  await all.sql`insert into library (id, name, root) values (${libraryId}, 'Books', '/books')`
  await publish(all.sql, [
    { type: 'book_created', libraryId, books },
    { type: 'progress_updated', libraryId, books, accountId: reader.id },
    { type: 'progress_updated', libraryId, books, accountId: reader.id, fields: ['deleted'] },
    { type: 'cover_updated', libraryId, books },
    { type: 'cover_updated', libraryId, books, fields: ['deleted'] },
    { type: 'book_updated', libraryId, books, fields: ['covers'] },
    { type: 'cover_updated', libraryId, series: [seriesId], fields: ['deleted'] },
    { type: 'series_updated', libraryId, series: [seriesId], fields: ['covers'] },
    { type: 'series_updated', libraryId, series: [seriesId] },
    { type: 'library_updated', libraryId },
  ])
  const common = { bookId, seriesId, libraryId }
  t.same(await second.until('LibraryChanged'), [
    ['BookAdded', common],
    ['ReadProgressChanged', { bookId, userId: reader.id }],
    ['ReadProgressSeriesChanged', { seriesId, userId: reader.id }],
    ['ReadProgressDeleted', { bookId, userId: reader.id }],
    ['ReadProgressSeriesDeleted', { seriesId, userId: reader.id }],
    ['ThumbnailBookAdded', { bookId, seriesId, selected: true }],
    ['ThumbnailBookDeleted', { bookId, seriesId, selected: true }],
    ['ThumbnailBookDeleted', { bookId, seriesId, selected: false }],
    ['ThumbnailSeriesDeleted', { seriesId, selected: true }],
    ['ThumbnailSeriesDeleted', { seriesId, selected: false }],
    ['SeriesChanged', { seriesId, libraryId }],
    ['LibraryChanged', { libraryId }],
  ])
  const received = await first.until('LibraryChanged')
  t.same(
    received.map(([name]) => name).filter(name => !/^(?:TaskQueueStatus|Thumbnail)/.test(name)),
    ['BookAdded', 'SeriesChanged', 'LibraryChanged'],
    'reading of others is not sent',
  )
  const status = await first.until('TaskQueueStatus')
  t.same(status.at(-1), ['TaskQueueStatus', { count: 0, countByType: {} }], 'while idle, too')
  await enableKomga(admin, { enabled: false })
  for (const [stream, user] of [
    [first, admin],
    [second, reader],
  ] as const) {
    const last = (await stream.until('SessionExpired')).at(-1)
    t.same(last, ['SessionExpired', { userId: user.id }], 'streams end with the API')
  }
})
