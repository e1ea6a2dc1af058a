// Events of changes by users: with the fields that changed, for the accounts concerned.
import t from 'tap'
import { newId } from '../../../lib/base/id.ts'
import { eventsDuring } from '../../kit/events.ts'
import { comic, createTestLibrary } from '../../kit/library.ts'
import { startApi } from '../../kit/server.ts'
import { picture } from '../../page/books.ts'

const all = await startApi(t)
const { sql } = all
const admin = await all.createUser('admin')
const reader = await all.createUser('reader')
const eventsOf = (work: () => Promise<unknown>) => eventsDuring(sql, work)

t.test('changes of series and books are published with the changed fields', async t => {
  const library = await createTestLibrary(t, all, { 'A/1.cbz': comic(), 'A/2.cbz': comic() })
  await library.scan()
  const [book] = await library.books()
  const { id, seriesId } = book!
  const ofBook = { library: library.id, series: seriesId, book: id }
  const ofSeries = { library: library.id, series: seriesId }
  const updated = (fields: string[]) => [{ type: 'book_updated', ...ofBook, fields }]
  const changed = (fields: string[]) => [{ type: 'series_updated', ...ofSeries, fields }]

  const title = { title: 'Other', number: '7' }
  t.same(
    await eventsOf(() => admin.patch(`/books/${id}`, title)),
    updated(['locks', 'number', 'title']),
  )
  t.same(
    await eventsOf(() => admin.patch(`/books/${id}`, title)),
    [],
    'repeating a change publishes nothing',
  )
  const more = { month: 3, writer: 'Ana', customMetadata: { copy: 1 } }
  t.same(
    await eventsOf(() => admin.patch(`/books/${id}/metadata`, more)),
    updated(['authors', 'locks', 'metadata']),
  )
  t.same(
    await eventsOf(() => admin.put(`/books/${id}/metadata/locks`, { yearLock: true })),
    updated(['locks']),
  )
  t.same(await eventsOf(() => admin.put(`/books/${id}/metadata/locks`, { yearLock: true })), [])
  t.same(
    await eventsOf(() => admin.put(`/books/${id}/genres`, { genres: ['Drama'] })),
    [...updated(['genres', 'locks']), ...changed(['genres'])],
    'a series has the genres of its books',
  )
  t.same(await eventsOf(() => admin.put(`/books/${id}/genres`, { genres: ['Drama'] })), [])
  t.same(
    await eventsOf(() => admin.put(`/books/${id}/genres`, { genres: ['drama'] })),
    [...updated(['genres']), ...changed(['genres'])],
    'another spelling is shown',
  )
  t.same(
    await eventsOf(() => admin.patch(`/series/${seriesId}`, { title: 'Title' })),
    changed(['locks', 'title']),
  )
  t.same(
    await eventsOf(() =>
      admin.patch(`/series/${seriesId}/metadata`, { year: 1999, status: 'ended' }),
    ),
    changed(['locks', 'status', 'year']),
  )
  t.same(
    await eventsOf(() => admin.put(`/series/${seriesId}/metadata/locks`, { year: false })),
    changed(['locks']),
  )
  t.same(
    await eventsOf(() => admin.put(`/series/${seriesId}/tags`, { tags: ['x'] })),
    changed(['locks', 'tags']),
  )

  for (const [path, event] of [
    [`/books/${id}`, updated],
    [`/series/${seriesId}`, changed],
  ] as const) {
    const link = { sourceName: 'Wiki', url: 'https://example.org/' }
    t.same(
      await eventsOf(() => admin.post(`${path}/external-links`, link)),
      event(['external_links']),
    )
    const externalId = { source: 'isbn', externalId: '1' }
    const events = await eventsOf(async () => {
      const { body } = await admin.post(`${path}/external-ids`, externalId)
      await admin.delete(`${path}/external-ids/${body.id}`)
    })
    t.same(events, [...event(['external_ids']), ...event(['external_ids'])])
  }
  const genres = await admin.get('/genres')
  const drama = genres.body.data.find((genre: { name: string }) => /^drama$/i.test(genre.name))
  t.same(await eventsOf(() => admin.delete(`/genres/${drama.id}`)), [
    ...changed(['genres']),
    ...updated(['genres']),
  ])
  t.same(
    (await eventsOf(() => admin.delete(`/series/${seriesId}/metadata`)))[0],
    changed(['metadata_reset'])[0],
  )
  t.same(
    (await eventsOf(() => admin.delete(`/books/${id}/metadata`)))[0],
    updated(['metadata_reset'])[0],
  )
})

t.test('changes of sharing tags; deletions carry the tags', async t => {
  const library = await createTestLibrary(t, all, { 'A/1.cbz': comic(), 'B/1.cbz': comic() })
  await library.scan()
  const [book] = await library.books()
  const path = `/series/${book!.seriesId}`
  const changed = [
    {
      type: 'series_updated',
      library: library.id,
      series: book!.seriesId,
      fields: ['sharing_tags'],
    },
  ]
  const { body: tag } = await admin.post('/admin/sharing-tags', { name: `adults ${newId()}` })
  const put = () => admin.put(`${path}/sharing-tags`, { sharingTagIds: [tag.id] })
  t.same(await eventsOf(put), changed)
  t.same(await eventsOf(put), [])
  t.same(await eventsOf(() => admin.delete(`${path}/sharing-tags/${tag.id}`)), changed)
  t.same(
    await eventsOf(() => admin.post(`${path}/sharing-tags`, { sharingTagId: tag.id })),
    changed,
  )
  await admin.patch(`${path}/metadata`, { ageRating: 18 })
  library.remove('A/1.cbz')
  await library.scan({ options: { confirmMissing: true } })
  const deletions = await eventsOf(() => admin.delete(`${path}/purge-deleted`))
  t.match(deletions, [
    { type: 'book_deleted', rating: 18, tags: [tag.id] },
    { type: 'series_deleted', rating: 18, tags: [tag.id] },
  ])
})

t.test('a cover change is published for the book and for the series that displays it', async t => {
  const library = await createTestLibrary(t, all, { 'A/1.cbz': comic(), 'A/2.cbz': comic() })
  await library.scan()
  const [one, two] = await library.books()
  const series = { type: 'cover_updated', library: library.id, series: one!.seriesId }
  const ofBook = (book: typeof one) => ({ ...series, book: book!.id })
  const bytes = await picture(300, 200)
  const upload = async (path: string, image = bytes) => {
    const raw = new FormData()
    raw.append('file', new Blob([Uint8Array.from(image)]), 'cover')
    return await admin.request('POST', `${path}/cover`, { raw })
  }
  const path = `/books/${two!.id}`
  t.same(await eventsOf(() => upload(`/books/${one!.id}`)), [ofBook(one), series])
  t.same(
    await eventsOf(() => upload(path)),
    [ofBook(two)],
    'the series displays the cover of its first book',
  )
  t.same(await eventsOf(() => upload(path)), [], 'it is displayed already')
  const { body: other } = await upload(path, await picture(400, 200))
  const { body: listed } = await admin.get(`${path}/covers`)
  const first = listed.covers.find((cover: { id: string }) => cover.id !== other.id)
  t.same(await eventsOf(() => admin.put(`${path}/covers/${first.id}/select`)), [ofBook(two)])
  t.same(await eventsOf(() => admin.delete(`${path}/covers/${other.id}`)), [
    { ...ofBook(two), type: 'book_updated', fields: ['covers'] },
  ])
  t.same(await eventsOf(() => admin.delete(`${path}/covers/${first.id}`)), [
    { ...ofBook(two), fields: ['deleted'] },
  ])
  t.same(
    await eventsOf(() =>
      admin.put(`/series/${one!.seriesId}/covers/from-book`, { bookId: two!.id }),
    ),
    [series],
  )
  t.same(await eventsOf(() => admin.delete(`/series/${one!.seriesId}/covers/selected`)), [series])
  t.same(await eventsOf(() => admin.delete(`/series/${one!.seriesId}/covers/selected`)), [])
})

t.test('progress is published for its account only', async t => {
  const library = await createTestLibrary(t, all, {
    'A/1.cbz': comic({ pages: 3 }),
    'A/2.cbz': comic(),
  })
  await library.scan()
  const [one, two] = await library.books()
  const progressEvent = (book: typeof one, fields?: string[]) => ({
    type: 'progress_updated',
    ...(fields ? { fields } : {}),
    library: library.id,
    series: book!.seriesId,
    book: book!.id,
    account: reader.id,
  })
  const removed = ['deleted']
  const path = `/books/${one!.id}`
  t.same(await eventsOf(() => reader.put(`${path}/progress`, { currentPage: 2 })), [
    progressEvent(one),
  ])
  t.same(await eventsOf(() => reader.post(`${path}/read`)), [progressEvent(one)])
  const read = `/series/${one!.seriesId}/read`
  t.same(
    await eventsOf(() => reader.post(read)),
    [progressEvent(two)],
    'the first one was read already',
  )
  t.same(await eventsOf(() => reader.post(read)), [])
  t.same(await eventsOf(() => reader.delete(`${path}/progress`)), [progressEvent(one, removed)])
  t.same(await eventsOf(() => reader.delete(`${path}/progress`)), [])
  const unread = `/series/${one!.seriesId}/unread`
  t.same(await eventsOf(() => reader.post(unread)), [progressEvent(two, removed)])
})

t.test('want to read and ratings are published to the account alone', async t => {
  const library = await createTestLibrary(t, all, { 'W/1.cbz': comic(), 'W/2.cbz': comic() })
  await library.scan()
  const [one, two] = await library.books()
  const own = { library: library.id, series: one!.seriesId, account: reader.id }
  const wanted = { ...own, type: 'want_to_read_updated' }
  const rated = { ...own, type: 'rating_updated' }
  const series = `/series/${one!.seriesId}`
  const ids = { seriesIds: [one!.seriesId], bookIds: [one!.id, two!.id] }
  t.same(await eventsOf(() => reader.post('/want-to-read/bulk', ids)), [
    wanted,
    { ...wanted, book: one!.id },
    { ...wanted, book: two!.id },
  ])
  t.same(await eventsOf(() => reader.post('/want-to-read/bulk', ids)), [])
  const entries = (await reader.get('/want-to-read?sort=custom')).body.data
  const reverse = { entryIds: entries.map((entry: any) => entry.id).reverse() }
  const arrange = () => reader.put('/want-to-read/order', reverse)
  t.same(await eventsOf(arrange), [
    { type: 'want_to_read_updated', library: null, account: reader.id, fields: ['order'] },
  ])
  t.same(await eventsOf(arrange), [], 'nothing moves')
  t.same(await eventsOf(() => reader.delete(`/want-to-read/books/${two!.id}`)), [
    { ...wanted, book: two!.id, fields: ['deleted'] },
  ])
  t.same(await eventsOf(() => reader.delete(`/want-to-read/books/${two!.id}`)), [])
  t.same(await eventsOf(() => reader.put(`${series}/rating`, { rating: 70 })), [rated])
  t.same(await eventsOf(() => reader.delete(`${series}/rating`)), [
    { ...rated, fields: ['deleted'] },
  ])
})
