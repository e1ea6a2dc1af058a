// Context of series and books for templates and conditions: every field of the specification, and none of
// what has no value; previews of templates and of conditions.
import t from 'tap'
import { unrestrictedViewer } from '../../../../lib/accounts/viewer.ts'
import { newId } from '../../../../lib/base/id.ts'
import { BookMetadata } from '../../../../lib/catalog/metadata/book-metadata-record.ts'
import { bookContext } from '../../../../lib/catalog/metadata/template-context.ts'
import { comic, createTestLibrary } from '../../../kit/library.ts'
import { startApi } from '../../../kit/server.ts'

const all = await startApi(t)
const admin = await all.createUser('admin')
const reader = await all.createUser('reader')
const shelf = await createTestLibrary(t, all, {
  'Everything/1.cbz': comic(),
  'Everything/2.cbz': comic(),
  'Nothing/1.cbz': comic(),
  'Other/1.cbz': comic(),
})
await shelf.scan()
const books = await shelf.books()
const idOf = (series: string) => books.find(book => book.series === series)!.seriesId

const lockFlags = [
  ...['titleLock', 'titleSortLock', 'summaryLock', 'publisherLock', 'imprintLock', 'genresLock'],
  ...[
    'tagsLock',
    'languageLock',
    'statusLock',
    'readingDirectionLock',
    'ageRatingLock',
    'yearLock',
  ],
  ...['totalVolumeCountLock', 'totalChapterCountLock', 'coverLock', 'customMetadataLock'],
  'authorsJsonLock',
]
const metadata = {
  title: 'Everything',
  titleSort: 'Everything, The',
  alternateTitles: [{ label: 'ja', title: 'すべて' }],
  authors: [{ name: 'A', role: 'writer', sortName: 'Z' }],
  summary: 'All of it.',
  publisher: 'P',
  imprint: 'I',
  genres: ['Action'],
  tags: ['x', 'y'],
  language: 'pt-BR',
  status: 'hiatus',
  readingDirection: 'rtl',
  ageRating: 12,
  year: 1982,
  totalVolumeCount: 6,
  totalChapterCount: 120.5,
  externalLinks: [{ source: 'wiki', url: 'https://example.org/a', externalId: 'Q1' }],
  externalRatings: [{ source: 'site', rating: 87.5, votes: 3 }],
}
const customMetadata = { my_key: { Other_Key: [1, null] }, '': 0 }

t.before(async () => {
  const at = `/series/${idOf('Everything')}`
  const { genres, tags, externalLinks, externalRatings, ...fields } = metadata
  await admin.patch(`${at}/metadata`, { ...fields, customMetadata })
  await admin.put(`${at}/genres`, { genres })
  await admin.put(`${at}/tags`, { tags })
  for (const { source: sourceName, url, externalId } of externalLinks)
    await admin.post(`${at}/external-links`, { sourceName, url, externalId })
  for (const { source: sourceName, rating, votes: voteCount } of externalRatings)
    await admin.post(`${at}/external-ratings`, { sourceName, rating, voteCount })
  await admin.post(`${at}/external-ids`, {
    source: 'plugin:x',
    externalId: '7',
    externalUrl: 'https://example.org/7',
    metadataHash: 'h',
  })
  await admin.post(`${at}/external-ids`, { source: 'comicinfo', externalId: '8' })
})

t.test('a series with everything', async t => {
  const seriesId = idOf('Everything')
  const { body } = await reader.get(`/series/${seriesId}/context`)
  const locked = (flag: string) => flag !== 'coverLock'
  t.strictSame(body, {
    type: 'series',
    seriesId,
    bookCount: 2,
    customMetadata,
    externalIds: {
      comicinfo: { id: '8', url: null, hash: null },
      'plugin:x': { id: '7', url: 'https://example.org/7', hash: 'h' },
    },
    metadata: { ...metadata, ...Object.fromEntries(lockFlags.map(f => [f, locked(f)])) },
  })
})

t.test('a series with nothing', async t => {
  const seriesId = idOf('Nothing')
  const { body } = await reader.get(`/series/${seriesId}/context`)
  t.strictSame(body, {
    type: 'series',
    seriesId,
    bookCount: 1,
    metadata: {
      title: 'Nothing',
      status: 'unknown',
      ...Object.fromEntries(lockFlags.map(flag => [flag, false])),
    },
  })
})

t.test('a book has its own context and that of its series', async t => {
  const { seriesId, id } = books.find(book => book.series === 'Everything')!
  const patched = { customMetadata: { b: 1 }, publisher: 'Own' }
  await admin.patch(`/books/${id}/metadata`, patched)
  const { body } = await reader.get(`/books/${id}/context`)
  t.match(body, { type: 'book', bookId: id, seriesId, fileFormat: 'cbz', pageCount: 2 })
  t.match(body, { customMetadata: { b: 1 }, metadata: { publisher: 'Own' } })
  t.notOk('imprint' in body.metadata || 'externalIds' in body || 'customMetadata' in body.metadata)
  t.strictSame(body.series, (await reader.get(`/series/${seriesId}/context`)).body)
})

t.test('templates see the documented members of a book alone', async t => {
  const { id } = books.find(book => book.series === 'Everything')!
  await admin.patch(`/books/${id}/metadata`, { isbns: '9780000000002', imprint: 'I' })
  const { metadata } = await bookContext(all.sql, unrestrictedViewer(admin.id), id)
  const documented = Object.keys(BookMetadata.properties)
  t.match(metadata, { isbns: '9780000000002', imprint: 'I' })
  t.same(
    Object.keys(metadata).filter(name => !documented.includes(name)),
    [],
  )
})

t.test('templates are rendered with a series, a book or an example', async t => {
  const seriesId = idOf('Everything')
  const preview = (body: object) => reader.post('/templates/preview', body)
  const template =
    '{{lowercase metadata.title}} {{externalIds.plugin:x.id}} {{customMetadata.my_key.Other_Key.[0]}}'
  t.strictSame((await preview({ template, seriesId })).body, { output: 'everything 7 1' })
  const { id } = books.find(book => book.series === 'Everything')!
  const ofBook = await preview({ template: '{{fileFormat}} {{series.metadata.year}}', bookId: id })
  t.equal(ofBook.body.output, 'cbz 1982')
  const context = { metadata: { title: 'Example' } }
  t.equal((await preview({ template, context })).body.output, 'example  ')
  t.equal((await preview({ template: 'as it is' })).body.output, 'as it is')
  const invalid = await preview({ template: '{{#if a}}', seriesId })
  t.match(invalid, {
    status: 400,
    body: { message: /template is not a valid template: Parse error/ },
  })
  t.equal((await preview({ template, seriesId: newId() })).status, 404)
  t.equal((await preview({ template, seriesId, context })).status, 400)
  const { body } = await reader.post('/api-keys', { name: 'x', permissions: ['SeriesRead'] })
  const key = all.withHeaders({ 'x-api-key': body.key })
  t.equal((await key.post('/templates/preview', { template, seriesId })).status, 200)
  t.equal((await key.post('/templates/preview', { template, bookId: id })).status, 403)
})

t.test('the series of a library for which conditions hold', async t => {
  const at = `/libraries/${shelf.id}/auto-match/preview`
  const rules = (...rules: object[]) => ({ conditions: { mode: 'all', rules } })
  const titles = (body: { data: { title: string }[] }) => body.data.map(({ title }) => title)
  const manyBooks = rules({ field: 'bookCount', operator: 'gte', value: 2 })
  const first = await reader.post(at, manyBooks)
  t.match(first.body, { total: 1, checked: 3, data: [{ id: idOf('Everything') }] })
  const nested = rules(
    { field: 'customMetadata.my_key.Other_Key', operator: 'contains', value: 1 },
    { field: 'external_ids.count', operator: 'equals', value: '2' },
  )
  t.same(titles((await reader.post(at, nested)).body), ['Everything'])
  // Without conditions in the request the library's apply; without any, all series match.
  t.same(titles((await reader.post(at)).body), ['Everything', 'Nothing', 'Other'])
  const page = await reader.post(`${at}?page=2&pageSize=2`)
  t.match(page.body, { total: 3, totalPages: 2 })
  t.same(titles(page.body), ['Other'])
  const stored = rules({ field: 'metadata.title', operator: 'starts_with', value: 'N' }).conditions
  await admin.put(`/libraries/${shelf.id}`, { autoMatchConditions: stored })
  t.same(titles((await reader.post(at)).body), ['Nothing'])
  const invalid = rules({ field: 'type', operator: 'matches', value: '(' })
  t.equal((await reader.post(at, invalid)).status, 400)
  t.equal((await reader.post(`/libraries/${newId()}/auto-match/preview`)).status, 404)
})
