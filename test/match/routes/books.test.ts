// Books and metadata sources over HTTP: search, comparison, application, scans, undo, automatic matching.
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { doctorFindings, openCatalog } from '../../kit/catalog.ts'
import { png } from '../../kit/files/archives.ts'
import { epubBytes, item } from '../../kit/files/epub.ts'
import { comic, createTestLibrary } from '../../kit/library.ts'
import { apiDefaults, serveCatalog } from '../../kit/server.ts'
import {
  createMemorySource,
  fetchedBook,
  fetchedSeries,
  insertMetadataSource,
} from './metadata-source.ts'

const memory = createMemorySource()
const catalog = await openCatalog(t, apiDefaults, { sources: memory.sources })
const all = await serveCatalog(t, catalog)
const { sql } = all
const admin = await all.createUser('admin')
const reader = await all.createUser('reader')
const sourceId = await insertMetadataSource(sql, 'plugin:memory')

const isbns = ['9780547928227', '9783161484100']
const ebook = (title: string, isbn = '') =>
  epubBytes({
    metadata: `<title>${title}</title><creator>Jules Verne</creator><publisher>Hetzel</publisher>
      <subject>Adventure</subject>${isbn && `<identifier>urn:isbn:${isbn}</identifier>`}`,
    manifest: item('c', 'c.xhtml', 'application/xhtml+xml'),
    spine: '<itemref idref="c"/>',
    files: { 'OPS/c.xhtml': '<html xmlns="http://www.w3.org/1999/xhtml"><body>x</body></html>' },
  })
const titles = Array.from({ length: 8 }, (_, i) => `Voyage ${String.fromCharCode(65 + i)}`)
const shelf = await createTestLibrary(t, all, {
  ...Object.fromEntries(titles.map(title => [`${title}/${title}.epub`, ebook(title)])),
  'Numbered/n.epub': ebook('Numbered', isbns[0]),
  'Comics/1.cbz': comic(),
})
await shelf.scan()
const books = new Map((await shelf.books()).map(book => [book.title, book]))

/** A book for one test, with what the source states of it. */
function subject(metadata: Record<string, unknown>, others = {}) {
  const title = titles.pop()!
  const { id, seriesId } = books.get(title)!
  const externalId = `x-${title.replace(' ', '-')}`
  memory.books.set(externalId, fetchedBook(externalId, metadata, others))
  const at = `/books/${id}/metadata`
  const request = (what: string, body: object = {}) =>
    admin.post(`${at}/${what}`, { sourceId, externalId, ...body })
  const undo = () => admin.post(`${at}/undo`, { sourceId })
  const metadataNow = async () => (await reader.get(at)).body
  return { id, seriesId, title, at, externalId, request, undo, metadataNow }
}

const full = {
  title: 'Another title',
  subtitle: 'A subtitle',
  summary: 'A summary.',
  publisher: 'Source House',
  year: 1999,
  languageIso: 'fre',
  authors: [
    { name: 'J. Verne', role: 'writer' },
    { name: 'T. Ranslator', role: 'translator' },
  ],
  genre: ['Travel', 'travel', 'Sea'],
  subjects: ['ships'],
  isbns: [isbns[1], 'no isbn', isbns[0]],
}
const links = [{ source: 'wiki', url: 'https://wiki.example/a' }]

t.test('what a source states of a book is compared, applied, and survives scans', async t => {
  const { at, id, externalId, request, metadataNow } = subject(
    { ...full, month: 13, bookType: 'novel', tags: ['x'], unknown: 1 },
    { links, externalIds: [{ source: 'goodreads', externalId: '9', url: null }] },
  )
  await admin.patch(at, { publisher: 'Mine' })
  const preview = (await request('preview')).body
  const proposal = (field: string) =>
    preview.fields.find((f: { field: string }) => f.field === field)
  t.match(preview, { sourceId, externalId, isUnchanged: false })
  t.match(proposal('subtitle'), { current: null, proposed: 'A subtitle', action: 'change' })
  t.match(proposal('genre'), { current: ['Adventure'], proposed: ['Travel', 'Sea'] })
  t.same(
    ['publisher', 'month', 'title', 'externalLinks'].map(field => proposal(field).action),
    ['locked', 'invalid', 'change', 'change'],
  )
  t.same([proposal('bookType'), proposal('tags'), proposal('unknown')], Array(3).fill(undefined))
  t.match((await request('apply', { dryRun: true })).body, { isDryRun: true })
  t.equal((await metadataNow()).summary, null)
  t.equal((await reader.post(`${at}/apply`, { sourceId, externalId })).status, 403)
  const { body } = await request('apply')
  t.same(body.skippedFields, [
    { field: 'publisher', reason: 'locked' },
    { field: 'month', reason: 'invalid' },
  ])
  const check = async (when: string) => {
    const metadata = await metadataNow()
    const { genre: _, isbns: _isbns, languageIso: _language, ...same } = full
    t.match(
      metadata,
      {
        ...same,
        ...{ publisher: 'Mine', languageIso: 'fr', isbns: `${isbns[1]}, ${isbns[0]}` },
        ...{ genre: 'Travel, Sea', month: null, bookType: null, subjects: ['ships'] },
        ...{ writers: ['J. Verne'], translator: 'T. Ranslator' },
        locks: { titleLock: false, authorsJsonLock: false, publisherLock: true },
      },
      when,
    )
  }
  await check('after the application')
  await shelf.scan({ mode: 'deep' })
  await check('after a deep scan')
  t.match((await request('preview')).body, { isUnchanged: true })
  t.match((await reader.get(`/books/${id}/external-ids`)).body, {
    externalIds: [
      { source: 'goodreads', externalId: '9' },
      { source: 'plugin:memory', externalId, metadataHash: /^[0-9a-f]{64}$/ },
    ],
  })
  const found = await reader.post('/books/list', { fullTextSearch: 'Another title' })
  t.same(
    found.body.data.map((book: { id: string }) => book.id),
    [id],
    'it is found by its new title',
  )
})

t.test('a match is undone: former values return, later ones stay', async t => {
  const coverUrl = 'https://example.org/book.png'
  memory.images.set(coverUrl, png(40))
  const { at, id, title, request, undo, metadataNow } = subject(full, { links, coverUrl })
  const before = await metadataNow()
  t.equal((await undo()).status, 404, 'nothing was applied yet')
  t.equal((await request('apply')).body.cover, 'set')
  await request('apply')
  await admin.patch(at, { summary: 'My own.' })
  t.match((await admin.get(`${at}/matches`)).body, {
    matches: [{ source: 'plugin:memory', outcome: 'matched', isUndoable: true, isDue: false }],
  })
  const { status, body } = await undo()
  t.equal(status, 200)
  t.ok(body.restoredFields.includes('title') && body.restoredFields.includes('cover'))
  t.notOk(body.restoredFields.includes('summary'), 'the user changed it since')
  const { updatedAt: _, summary: _summary, locks: _locks, ...expected } = before
  t.match(await metadataNow(), { ...expected, title, summary: 'My own.' })
  t.same((await reader.get(`/books/${id}/covers`)).body.covers, [])
  t.same((await reader.get(`/books/${id}/external-ids`)).body.externalIds, [])
  t.same((await reader.get(`/books/${id}/external-links`)).body.links, [])
  t.equal((await undo()).status, 404, 'only once')
  t.match((await admin.get(`${at}/matches`)).body, {
    matches: [{ outcome: 'undone', isUndoable: false }],
  })
  await shelf.scan({ mode: 'deep' })
  t.match(await metadataNow(), { ...expected, summary: 'My own.' }, 'a scan reads the file again')
})

t.test('a reset returns to the file', async t => {
  const { at, title, request, metadataNow } = subject(full)
  await request('apply')
  await admin.delete(at)
  await shelf.scan({ mode: 'deep' })
  t.match(await metadataNow(), {
    ...{ title, publisher: 'Hetzel', subtitle: null, summary: null, isbns: null },
    ...{ genre: 'Adventure', subjects: [], year: null },
  })
})

t.test('a search takes title, first author and ISBN of the book, or those given', async t => {
  const { at, title } = subject({ title: 'Found', isbns: [isbns[1]] })
  const search = async (path: string, body: object = {}) =>
    (await admin.post(`${path}/search`, { sourceId, ...body })).body
  memory.calls.length = 0
  t.match(await search(at), { title, author: 'Jules Verne', isbn: null, results: [] })
  const numbered = `/books/${books.get('Numbered')!.id}/metadata`
  t.match(await search(numbered), { title: 'Numbered', isbn: isbns[0] })
  t.match(await search(at, { title: 'Found' }), { author: null, results: [{ title: 'Found' }] })
  t.match(await search(at, { isbn: '3-16-148410-X' }), {
    ...{ title: '', isbn: isbns[1] },
    results: [{ isbns: [isbns[1]] }],
  })
  t.match(await search(at, { isbn: '123' }), { title, isbn: null }, 'not an ISBN')
  t.same(memory.calls, [
    `search ${title} by Jules Verne, null`,
    `search Numbered by Jules Verne, ${isbns[0]}`,
    'search Found by null, null',
    `search  by null, ${isbns[1]}`,
    `search ${title} by Jules Verne, null`,
  ])
  t.match((await reader.get('/metadata/sources')).body, {
    sources: [{ id: sourceId, kinds: ['series', 'book'] }],
  })
})

t.test('a match of a series is undone, too', async t => {
  const { seriesId } = books.get(titles.pop()!)!
  const at = `/series/${seriesId}/metadata`
  const before = (await reader.get(at)).body
  const references = {
    externalIds: [{ source: 'anilist', externalId: '1', url: null }],
    links,
    ratings: [{ source: 'anilist', rating: 50, votes: null }],
  }
  await admin.post(`/series/${seriesId}/external-ids`, { source: 'own', externalId: '7' })
  await admin.delete(`/series/${seriesId}/external-ids/own`)
  const metadata = { title: 'Other', summary: 'S', genres: ['Drama'], authors: [{ name: 'A' }] }
  memory.series.set('wrong', fetchedSeries('wrong', metadata, references))
  memory.series.set('right', fetchedSeries('right', { title: 'Right', year: 1900 }))
  await admin.post(`${at}/apply`, { sourceId, externalId: 'wrong' })
  await admin.post(`${at}/apply`, { sourceId, externalId: 'right' })
  t.match((await reader.get(at)).body, { title: 'Right', year: 1900, summary: 'S' })
  const { body } = await admin.post(`${at}/undo`, { sourceId })
  t.match(new Set(body.restoredFields), new Set(['title', 'summary', 'year', 'genres', 'authors']))
  const { updatedAt: _, ...expected } = before
  t.match((await reader.get(at)).body, expected, 'the values from before both matches')
  t.match((await reader.get(at)).body, { externalIds: [], externalLinks: [], externalRatings: [] })
})

t.test(
  'ebooks of a library are matched in the background, an undone match is not repeated',
  async t => {
    const { at, id, externalId, title, undo } = subject({ summary: 'In the background' })
    memory.books.clear()
    memory.books.set(externalId, fetchedBook(externalId, { title, summary: 'In the background' }))
    const untilMatched = async () => {
      const working = () => sql`
      select 1 from pgboss.job where name = 'match' and state < 'completed' limit 1`
      while ((await working()).length > 0) await sleep(20)
    }
    const outcomes = async () => {
      await untilMatched()
      const rows = await sql<{ title: string; outcome: string }[]>`
      select b.title, m.outcome from book_match m join book b on b.id = m.book_id order by 1`
      return new Map(rows.map(row => [row.title, row.outcome]))
    }
    const task = await admin.post(`/libraries/${shelf.id}/metadata/auto-match/task`)
    t.equal(task.status, 200)
    const first = await outcomes()
    t.equal(first.get(title), 'matched')
    t.equal(first.get('Numbered'), 'no_match')
    t.notOk(first.has('1'), 'comics are not looked up as books')
    t.equal((await reader.get(at)).body.summary, 'In the background')
    await undo()
    await sql`update source set matching = '{"enabled": true}'`
    await shelf.scan({ mode: 'deep' })
    t.equal((await outcomes()).get(title), 'undone')
    await admin.post('/books/metadata/auto-match/task/bulk', { bookIds: [id], force: true })
    t.equal((await outcomes()).get(title), 'matched', 'unless it is requested')
    t.match((await admin.post(`${at}/auto-match`, { sourceId })).body, { outcome: 'matched' })
    t.same(await doctorFindings(catalog), [])
  },
)
