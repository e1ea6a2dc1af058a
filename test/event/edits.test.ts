// What users change, as it is told: with the fields that changed, to whom it concerns.
import t from 'tap'
import { newId } from '../../lib/id.ts'
import { toldWhile } from '../kit/events.ts'
import { comic, shelve } from '../kit/library.ts'
import { serve } from '../kit/server.ts'
import { picture } from '../page/books.ts'

const all = await serve(t)
const { sql } = all
const admin = await all.as('admin')
const reader = await all.as('reader')
const told = (work: () => Promise<unknown>) => toldWhile(sql, work)

t.test('what users change of series and books is told with the fields that changed', async t => {
  const shelf = await shelve(t, all, { 'A/1.cbz': comic(), 'A/2.cbz': comic() })
  await shelf.scan()
  const [book] = await shelf.books()
  const { id, seriesId } = book!
  const ofBook = { library: shelf.id, series: seriesId, book: id }
  const ofSeries = { library: shelf.id, series: seriesId }
  const updated = (fields: string[]) => [{ type: 'book_updated', ...ofBook, fields }]
  const changed = (fields: string[]) => [{ type: 'series_updated', ...ofSeries, fields }]

  const title = { title: 'Other', number: '7' }
  t.same(
    await told(() => admin.patch(`/books/${id}`, title)),
    updated(['locks', 'number', 'title']),
  )
  t.same(await told(() => admin.patch(`/books/${id}`, title)), [], 'the same again changes nothing')
  const more = { month: 3, writer: 'Ana', customMetadata: { shelf: 1 } }
  t.same(
    await told(() => admin.patch(`/books/${id}/metadata`, more)),
    updated(['authors', 'locks', 'metadata']),
  )
  t.same(
    await told(() => admin.put(`/books/${id}/metadata/locks`, { yearLock: true })),
    updated(['locks']),
  )
  t.same(await told(() => admin.put(`/books/${id}/metadata/locks`, { yearLock: true })), [])
  t.same(
    await told(() => admin.put(`/books/${id}/genres`, { genres: ['Drama'] })),
    [...updated(['genres', 'locks']), ...changed(['genres'])],
    'a series has the genres of its books',
  )
  t.same(await told(() => admin.put(`/books/${id}/genres`, { genres: ['drama'] })), [])
  t.same(
    await told(() => admin.patch(`/series/${seriesId}`, { title: 'Title' })),
    changed(['locks', 'title']),
  )
  t.same(
    await told(() => admin.patch(`/series/${seriesId}/metadata`, { year: 1999, status: 'ended' })),
    changed(['locks', 'status', 'year']),
  )
  t.same(
    await told(() => admin.put(`/series/${seriesId}/metadata/locks`, { year: false })),
    changed(['locks']),
  )
  t.same(
    await told(() => admin.put(`/series/${seriesId}/tags`, { tags: ['x'] })),
    changed(['locks', 'tags']),
  )

  for (const [path, event] of [
    [`/books/${id}`, updated],
    [`/series/${seriesId}`, changed],
  ] as const) {
    const link = { sourceName: 'Wiki', url: 'https://example.org/' }
    t.same(await told(() => admin.post(`${path}/external-links`, link)), event(['external_links']))
    const own = { source: 'isbn', externalId: '1' }
    const events = await told(async () => {
      const { body } = await admin.post(`${path}/external-ids`, own)
      await admin.delete(`${path}/external-ids/${body.id}`)
    })
    t.same(events, [...event(['external_ids']), ...event(['external_ids'])])
  }
  const genres = await admin.get('/genres')
  const drama = genres.body.data.find((g: { name: string }) => g.name === 'Drama')
  t.same(await told(() => admin.delete(`/genres/${drama.id}`)), [
    ...changed(['genres']),
    ...updated(['genres']),
  ])
  t.same(
    (await told(() => admin.delete(`/series/${seriesId}/metadata`)))[0],
    changed(['metadata_reset'])[0],
  )
  t.same(
    (await told(() => admin.delete(`/books/${id}/metadata`)))[0],
    updated(['metadata_reset'])[0],
  )
})

t.test('sharing tags, and what was hidden by them when it goes', async t => {
  const shelf = await shelve(t, all, { 'A/1.cbz': comic(), 'B/1.cbz': comic() })
  await shelf.scan()
  const [book] = await shelf.books()
  const path = `/series/${book!.seriesId}`
  const changed = [
    { type: 'series_updated', library: shelf.id, series: book!.seriesId, fields: ['sharing_tags'] },
  ]
  const { body: tag } = await admin.post('/admin/sharing-tags', { name: `adults ${newId()}` })
  const put = () => admin.put(`${path}/sharing-tags`, { sharingTagIds: [tag.id] })
  t.same(await told(put), changed)
  t.same(await told(put), [])
  t.same(await told(() => admin.delete(`${path}/sharing-tags/${tag.id}`)), changed)
  t.same(await told(() => admin.post(`${path}/sharing-tags`, { sharingTagId: tag.id })), changed)
  await admin.patch(`${path}/metadata`, { ageRating: 18 })
  shelf.remove('A/1.cbz')
  await shelf.scan({ options: { confirmMissing: true } })
  const gone = await told(() => admin.delete(`${path}/purge-deleted`))
  t.match(gone, [
    { type: 'book_deleted', rating: 18, tags: [tag.id] },
    { type: 'series_deleted', rating: 18, tags: [tag.id] },
  ])
})

t.test('another cover is told of the book, and of the series that shows it', async t => {
  const shelf = await shelve(t, all, { 'A/1.cbz': comic(), 'A/2.cbz': comic() })
  await shelf.scan()
  const [one, two] = await shelf.books()
  const series = { type: 'cover_updated', library: shelf.id, series: one!.seriesId }
  const ofBook = (book: typeof one) => ({ ...series, book: book!.id })
  const bytes = await picture(300, 200)
  const upload = async (path: string, image = bytes) => {
    const raw = new FormData()
    raw.append('file', new Blob([Uint8Array.from(image)]), 'cover')
    return await admin.ask('POST', `${path}/cover`, { raw })
  }
  const path = `/books/${two!.id}`
  t.same(await told(() => upload(`/books/${one!.id}`)), [ofBook(one), series])
  t.same(await told(() => upload(path)), [ofBook(two)], 'the series shows its first book')
  t.same(await told(() => upload(path)), [], 'it is shown already')
  const { body: other } = await upload(path, await picture(400, 200))
  const { body: listed } = await admin.get(`${path}/covers`)
  const first = listed.covers.find((c: { id: string }) => c.id !== other.id)
  t.same(await told(() => admin.put(`${path}/covers/${first.id}/select`)), [ofBook(two)])
  t.same(await told(() => admin.delete(`${path}/covers/${other.id}`)), [
    { ...ofBook(two), type: 'book_updated', fields: ['covers'] },
  ])
  t.same(await told(() => admin.delete(`${path}/covers/${first.id}`)), [ofBook(two)])
  t.same(
    await told(() => admin.put(`/series/${one!.seriesId}/covers/from-book`, { bookId: two!.id })),
    [series],
  )
  t.same(await told(() => admin.delete(`/series/${one!.seriesId}/covers/selected`)), [series])
  t.same(await told(() => admin.delete(`/series/${one!.seriesId}/covers/selected`)), [])
})

t.test('progress is told to its reader alone', async t => {
  const shelf = await shelve(t, all, { 'A/1.cbz': comic({ pages: 3 }), 'A/2.cbz': comic() })
  await shelf.scan()
  const [one, two] = await shelf.books()
  const moved = (book: typeof one) => ({
    type: 'progress_updated',
    library: shelf.id,
    series: book!.seriesId,
    book: book!.id,
    account: reader.id,
  })
  const path = `/books/${one!.id}`
  t.same(await told(() => reader.put(`${path}/progress`, { currentPage: 2 })), [moved(one)])
  t.same(await told(() => reader.post(`${path}/read`)), [moved(one)])
  const read = `/series/${one!.seriesId}/read`
  t.same(await told(() => reader.post(read)), [moved(two)], 'the other was read')
  t.same(await told(() => reader.post(read)), [])
  t.same(await told(() => reader.delete(`${path}/progress`)), [moved(one)])
  t.same(await told(() => reader.delete(`${path}/progress`)), [])
  t.same(await told(() => reader.post(`/series/${one!.seriesId}/unread`)), [moved(two)])
})
