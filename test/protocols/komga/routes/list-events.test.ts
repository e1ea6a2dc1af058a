// Events of collections and read lists in the Komga-compatible API: members, posters, restricted accounts.
import t from 'tap'
import { publish } from '../../../../lib/store/event/publish.ts'
import { hideSeries, insertApiKey } from '../../../kit/accounts.ts'
import { png } from '../../../kit/files/archives.ts'
import { createReceiver, enableKomga } from '../../../kit/komga.ts'
import { comic, createTestLibrary } from '../../../kit/library.ts'
import { startApi } from '../../../kit/server.ts'

const all = await startApi(t)
const { sql } = all
const admin = await all.createUser('admin')
const reader = await all.createUser('reader')
await enableKomga(admin)
const shelf = await createTestLibrary(t, all, {
  'Open/1.cbz': comic(),
  'Other/1.cbz': comic(),
  'Hidden/1.cbz': comic(),
})
await shelf.scan()
const books = Object.fromEntries((await shelf.books()).map(book => [book.folder, book]))
const { Open: open, Other: other, Hidden: hidden } = books as Record<string, any>
const { libraryId } = await all.sql`select library_id as "libraryId" from book limit 1`.then(
  rows => rows[0] as any,
)
await hideSeries(all.sql, reader.id, [hidden.seriesId])

const base = `${all.base}/komga`
const controller = new AbortController()
t.teardown(() => controller.abort())
const connect = async (key: string) => {
  const { signal } = controller
  const response = await fetch(`${base}/sse/v1/events`, { headers: { 'x-api-key': key }, signal })
  return createReceiver(response)
}
const ofBooks = await insertApiKey(all.sql, admin.id, ['LibrariesRead', 'SeriesRead', 'BooksRead'])
const streams = await Promise.all([admin, reader, ofBooks].map(({ key }) => connect(key)))

async function send(method: string, path: string, body?: object) {
  const isForm = body instanceof FormData
  const response = await fetch(`${base}/api/v1${path}`, {
    method,
    headers: {
      'x-api-key': admin.key,
      ...(body && !isForm ? { 'content-type': 'application/json' } : {}),
    },
    ...(body ? { body: isForm ? body : JSON.stringify(body) } : {}),
  })
  if (!response.ok) throw new Error(`${method} ${path} ${response.status}`)
  const text = await response.text()
  return text === '' ? null : JSON.parse(text)
}

/** What the administrator and the reader have received about lists since the last call. */
async function received() {
  await publish(sql, [{ type: 'library_updated', libraryId }])
  const all = await Promise.all(streams.map(stream => stream.until('LibraryChanged')))
  const [whole, part, none] = all.map(events =>
    events.filter(([name]) => /Collection|ReadList/.test(name)),
  )
  t.same(none, [], 'nothing without the permission')
  return [whole, part]
}

t.test('collections', async t => {
  const { id: collectionId } = await send('POST', '/collections', {
    ...{ name: 'Mixed', ordered: true, seriesIds: [hidden.seriesId, open.seriesId] },
  })
  const path = `/collections/${collectionId}`
  const seen = (name: string, seriesIds: string[]) => [[name, { collectionId, seriesIds }]]
  t.same(await received(), [
    seen('CollectionAdded', [hidden.seriesId, open.seriesId]),
    seen('CollectionAdded', [open.seriesId]),
  ])
  await send('PATCH', path, { name: 'Renamed' })
  t.same(await received(), [
    seen('CollectionChanged', [hidden.seriesId, open.seriesId]),
    seen('CollectionChanged', [open.seriesId]),
  ])
  await send('PATCH', path, { seriesIds: [open.seriesId] })
  t.same(
    await received(),
    [seen('CollectionChanged', [open.seriesId]), []],
    'a change of hidden members is not sent to those who do not see them',
  )
  await send('PATCH', path, { seriesIds: [open.seriesId, other.seriesId] })
  const both = seen('CollectionChanged', [open.seriesId, other.seriesId])
  t.same(await received(), [both, both])
  await send('PATCH', path, { seriesIds: [hidden.seriesId] })
  t.same(
    await received(),
    [seen('CollectionChanged', [hidden.seriesId]), seen('CollectionDeleted', [])],
    'without visible members it is gone for the reader',
  )
  await send('PATCH', path, { name: 'Secret' })
  t.same(await received(), [seen('CollectionChanged', [hidden.seriesId]), []])
  await send('DELETE', path)
  t.same(await received(), [seen('CollectionDeleted', [hidden.seriesId]), []])
})

t.test('read lists and posters', async t => {
  const { id: readListId } = await send('POST', '/readlists', {
    ...{ name: 'Order', summary: '', ordered: true, bookIds: [open.id, hidden.id] },
  })
  const path = `/readlists/${readListId}`
  await received()
  const form = new FormData()
  form.set('file', new Blob([new Uint8Array(png(50))]), 'cover.png')
  const poster = await send('POST', `${path}/thumbnails`, form)
  const added = [['ThumbnailReadListAdded', { readListId, selected: true }]]
  t.same(await received(), [added, added])
  form.set('file', new Blob([new Uint8Array(png(60))]), 'other.png')
  form.set('selected', 'false')
  const other = await send('POST', `${path}/thumbnails`, form)
  t.equal(other.selected, false)
  const unselected = [['ThumbnailReadListAdded', { readListId, selected: false }]]
  t.same(await received(), [unselected, unselected])
  await send('DELETE', `${path}/thumbnails/${other.id}`)
  const dropped = [['ThumbnailReadListDeleted', { readListId, selected: false }]]
  t.same(await received(), [dropped, dropped])
  await send('DELETE', `${path}/thumbnails/${poster.id}`)
  const deleted = [['ThumbnailReadListDeleted', { readListId, selected: true }]]
  t.same(await received(), [deleted, deleted])
  await send('DELETE', path)
  t.same(await received(), [
    [['ReadListDeleted', { readListId, bookIds: [open.id, hidden.id] }]],
    [['ReadListDeleted', { readListId, bookIds: [open.id] }]],
  ])
})
