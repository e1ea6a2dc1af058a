// Event stream of the Komga-compatible API: names and data of events, the state of the tasks, visibility.
import { test } from 'tap'
import { publish, publishGrouping } from '../../../lib/event/publish.ts'
import { newId } from '../../../lib/id.ts'
import { enableKomga } from '../../kit/komga.ts'
import { startApiWithoutPipeline } from '../../kit/server.ts'

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
    ['SeriesChanged', { seriesId, libraryId }],
    ['LibraryChanged', { libraryId }],
  ])
  const received = await first.until('LibraryChanged')
  t.same(
    received.map(([name]) => name).filter(name => name !== 'TaskQueueStatus'),
    ['BookAdded', 'SeriesChanged', 'LibraryChanged'],
    'reading of others is not sent',
  )
  const [collectionId, readListId] = [newId(), newId()]
  await publishGrouping(all.sql, 'collection_updated', { collectionId }, ['cover'])
  await publishGrouping(all.sql, 'read_list_updated', { readListId }, ['cover'])
  for (const receiver of [first, second]) {
    const posters = await receiver.until('ThumbnailReadListAdded')
    t.same(
      posters.filter(([name]) => name !== 'TaskQueueStatus'),
      [
        ['ThumbnailSeriesCollectionAdded', { collectionId, selected: true }],
        ['ThumbnailReadListAdded', { readListId, selected: true }],
      ],
    )
  }
  const status = await first.until('TaskQueueStatus')
  t.same(status.at(-1), ['TaskQueueStatus', { count: 0, countByType: {} }], 'while idle, too')
})

type Received = [name: string, data: unknown]

function createReceiver(response: Response) {
  const chunks = response.body!.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  return {
    /** What was received since the last call, up to the first event of that name. */
    async until(name: string): Promise<Received[]> {
      const received: Received[] = []
      for (;;) {
        const end = text.indexOf('\n\n')
        if (end < 0) {
          const { value, done } = await chunks.read()
          if (done) throw new Error(`The stream ended before ${name}`)
          text += value
          continue
        }
        const block = text.slice(0, end)
        text = text.slice(end + 2)
        const [, event, data] = /^event: (\w+)\ndata: (.+)/.exec(block) ?? []
        if (event === undefined) continue
        received.push([event, JSON.parse(data!)])
        if (event === name) return received
      }
    },
  }
}
