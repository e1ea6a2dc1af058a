// Which hit automatic matching takes, and what it searches for, where titles of files are more than titles.
import t from 'tap'
import { openCatalog } from '../../kit/catalog.ts'
import { textPdf } from '../../kit/files/pdf.ts'
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
const admin = await all.createUser('admin')
const sourceId = await insertMetadataSource(all.sql, 'plugin:memory')
const pdf = textPdf([{ lines: [['A page', 40, 500]] }])
const shelf = await createTestLibrary(t, all, {
  'Outlaw (2011)/Outlaw 001 (2011).cbz': comic(),
  'Outlaw/Outlaw 001.cbz': comic({ info: '<ComicInfo><Year>2018</Year></ComicInfo>' }),
  'Shelf/Sandworm (The Desert Cycle, Book 1).pdf': pdf,
  'Shelf/Ann Author - Clean Desk.pdf': pdf,
})
await shelf.scan()
const books = await shelf.books()
const match = async (path: string, dryRun = false) =>
  (await admin.post(`${path}/metadata/auto-match`, { sourceId, dryRun })).body

for (const [id, year] of Object.entries({ old: 1964, new: 2011, newest: 2019 }))
  memory.series.set(id, fetchedSeries(id, { title: 'Outlaw', year, summary: `Of ${year}` }))
for (const title of ['Sandworm', 'Clean Desk'])
  memory.books.set(title, fetchedBook(title, { title }))

t.test('of series with the same title, the one of the same year', async t => {
  const byBook = books.find(({ series }) => series === 'Outlaw')!
  t.match(await match(`/series/${byBook.seriesId}`, true), { externalId: 'newest' }, 'of its book')
  const { seriesId } = books.find(({ series }) => series === 'Outlaw (2011)')!
  const path = `/series/${seriesId}`
  const found = { title: 'Outlaw', year: 2011, url: 'https://example.org/new' }
  t.match(await match(path, true), { outcome: 'matched', externalId: 'new', found })
  t.match(await match(path), { outcome: 'matched', externalId: 'new' })
  const query = `sourceId=${sourceId}&kind=series`
  const results = await admin.get(`/libraries/${shelf.id}/metadata/matches?${query}`)
  t.match(results.body.data, [{ outcome: 'matched', found }], 'results name what was found')
  await admin.post(`${path}/metadata/apply`, { sourceId, externalId: 'old' })
  t.match((await admin.get(`${path}/metadata/matches`)).body, {
    matches: [{ found: { title: 'Outlaw', year: 1964 } }],
  })
})

t.test('books are found without brackets, and by title and author in file names', async t => {
  for (const externalId of ['Sandworm', 'Clean Desk']) {
    const { id } = books.find(({ title }) => title.includes(externalId))!
    t.match(await match(`/books/${id}`, true), { outcome: 'matched', externalId })
    const { body } = await admin.post(`/books/${id}/metadata/search`, { sourceId })
    t.match(body, { title: externalId, results: [{ externalId }] })
  }
  t.ok(memory.calls.includes('search Clean Desk by Ann Author, null'))
})
