// Reading order: volumes precede numbers where numbers repeat, in every list, feed and protocol.
import t, { type Test } from 'tap'
import { unrestrictedViewer } from '../../../lib/accounts/viewer.ts'
import { seriesFiles } from '../../../lib/catalog/book/book-file.ts'
import { testWithDoctor } from '../../kit/catalog.ts'
import type { Files } from '../../kit/files/folders.ts'
import { enableKomga } from '../../kit/komga.ts'
import { comic, createTestLibrary } from '../../kit/library.ts'
import { startApi } from '../../kit/server.ts'

const all = await startApi(t)
const { sql } = all
const admin = await all.createUser('admin')
const viewer = unrestrictedViewer(admin.id)
await enableKomga(admin)
const check = testWithDoctor(t, all)

const inFolder = (folder: string, names: readonly string[]): Files =>
  Object.fromEntries(names.map(name => [`${folder}/${name}.cbz`, comic({ pages: 1 })]))
const stem = (name: string) => name.replace(/\.cbz$/, '')
const titles = (records: { title: string }[]) => records.map(({ title }) => title)

/** A scanned library of one series. */
async function seriesOf(t: Test, files: Files, seriesStrategy = 'series_volume') {
  const library = await createTestLibrary(t, all, files, { seriesStrategy })
  await library.scan()
  const [book] = await library.books()
  const id = book!.seriesId
  const order = async () => titles((await admin.get(`/series/${id}/books`)).body.data)
  return { library, id, order }
}

async function komga(method: string, path: string, body?: object): Promise<any> {
  const response = await fetch(`${all.base}/komga/api${path}`, {
    method,
    headers: { 'x-api-key': admin.key, 'content-type': 'application/json' },
    ...(body ? { body: JSON.stringify(body) } : {}),
  })
  return response.status === 204 ? null : await response.json()
}

const seasons = [
  'S1 - Chapter 1',
  'S1 - Chapter 2',
  'S1 - Chapter 10',
  'S2 - Chapter 1',
  'S2 - Chapter 2',
]

check('every list, feed and protocol has the seasons of a series one after the other', async t => {
  const { id, library } = await seriesOf(t, inFolder('Gosu', seasons))
  const books = await library.books()
  const idOf = (title: string) => books.find(book => book.title === title)!.id
  const condition = { seriesId: { operator: 'is', value: id } }
  const data = async (path: string) => titles((await admin.get(path)).body.data)
  t.same(await data(`/series/${id}/books`), seasons, 'the books of a series')
  t.same(await data(`/books?seriesId=${id}&sort=number,asc`), seasons, 'by number')
  t.same(await data(`/books?seriesId=${id}&sort=number,desc`), seasons.toReversed(), 'from the end')
  t.same(await data(`/books?sort=series&seriesId=${id}`), seasons, 'by series')
  const found = await admin.post('/books/list?sort=number,asc', { condition })
  t.same(titles(found.body.data), seasons, 'by a condition')
  const searched = await admin.post('/books/list?sort=series,asc', { fullTextSearch: 'chapter' })
  t.same(titles(searched.body.data), seasons, 'of a search')
  for (const [i, title] of seasons.entries()) {
    const { body } = await admin.get(`/books/${idOf(title)}/adjacent`)
    const { prev = null, next = null } = body
    t.same([prev?.title, next?.title], [seasons[i - 1], seasons[i + 1]], `beside ${title}`)
  }
  const opds2 = await admin.get(`/opds/v2/series/${id}`)
  const publications = JSON.parse(opds2.bytes.toString()).publications.map((p: any) => p.metadata)
  t.same(
    publications.map((p: any) => p.belongsTo.series.position ?? p.belongsTo.series[0].position),
    [1, 2, 3, 4, 5],
  )
  const opds1 = (await admin.get(`/opds/v1/series/${id}`)).bytes.toString()
  t.same(
    [...opds1.matchAll(/<title>([^<]*Chapter[^<]*)</g)].map(([, title]) =>
      seasons.find(s => title!.endsWith(s)),
    ),
    seasons,
  )
  t.same(
    (await seriesFiles(sql, viewer, id)).map(({ name }) => stem(name)),
    seasons,
    'a download',
  )
  const listed = await komga('GET', `/v1/series/${id}/books`)
  t.same(
    listed.content.map((b: any) => b.name),
    seasons,
    'the Komga API',
  )
  t.same(
    listed.content.map((b: any) => b.metadata.numberSort),
    [1, 2, 3, 4, 5],
  )
  const sorted = await komga(
    'POST',
    '/v1/books/list?sort=series,asc&sort=metadata.numberSort,asc',
    {
      condition,
    },
  )
  t.same(
    sorted.content.map((b: any) => b.name),
    seasons,
    'its sort orders',
  )
  const second = await komga('GET', `/v1/books/${idOf(seasons[2]!)}/next`)
  t.equal(second.name, seasons[3])
})

check('what is read next follows the seasons, and trackers mark what comes before', async t => {
  const { id, library } = await seriesOf(t, inFolder('Gosu', seasons))
  const [first] = (await library.books()).filter(book => book.title === seasons[0])
  await admin.put(`/books/${first!.id}/progress`, { isCompleted: true, currentPage: 1 })
  const deck = await admin.get(`/books/on-deck?libraryId=${library.id}`)
  t.same(titles(deck.body.data), [seasons[1]])
  await komga('PUT', `/v2/series/${id}/read-progress/tachiyomi`, { lastBookNumberSortRead: 3 })
  const rows = await sql`
    select b.title from progress p join book b on b.id = p.book_id
    where b.series_id = ${id} and p.is_completed order by b.volume, b.number_sort`
  t.same(titles(rows as never), seasons.slice(0, 3))
})

check('an edited, added or removed book changes the order', async t => {
  const { library, order } = await seriesOf(
    t,
    inFolder('Hero', ['Hero 001', 'Hero 002', 'Hero 003']),
  )
  t.same(await order(), ['Hero 001', 'Hero 002', 'Hero 003'])
  const edit = async (name: string, change: object) =>
    await admin.patch(`/books/${(await library.book(`${name}.cbz`)).id}/metadata`, change)
  await edit('Hero 003', { volume: 1 })
  await edit('Hero 001', { volume: 2 })
  await edit('Hero 002', { volume: 1 })
  t.same(await order(), ['Hero 001', 'Hero 002', 'Hero 003'], 'numbers that do not repeat decide')
  await edit('Hero 003', { number: '1' })
  t.same(await order(), ['Hero 003', 'Hero 002', 'Hero 001'])
  library.remove('Hero/Hero 003.cbz')
  await library.scan()
  t.same(await order(), ['Hero 001', 'Hero 002'], 'none repeats')
  library.write('Hero/Hero v3 #2.cbz', comic())
  await library.scan()
  t.same(await order(), ['Hero 002', 'Hero 001', 'Hero v3 #2'])
})

const orders: Record<string, readonly string[]> = {
  'a first season without a mark': ['T 001', 'T 002', 'T S2 001', 'T S2 002'],
  'volumes with issues': ['S Volume 05 #1', 'S Volume 05 #2', 'S Volume 06 #1', 'S Volume 06 #2'],
  'years as volumes': ['N v1990 #01', 'N v1990 #02', 'N v1991 #01'],
  'numbers that run through the volumes': ['A v01 c001', 'A v01 c002', 'A v02 c003', 'A c004'],
  'volumes beside their chapters': ['B v01', 'B v01 c002', 'B v02', 'B v02 c009'],
  'what has no volume after the volumes': ['C S1 001', 'C S1 002', 'C S2 001', 'C Special 001'],
  'numbers alone, when only copies repeat': ['D 001 (copy)', 'D 001', 'D v02', 'D 003'],
}
check('orders of volumes and numbers', async t => {
  const folders = Object.entries(orders).map(([name, books]) => inFolder(name, books.toReversed()))
  const library = await createTestLibrary(t, all, Object.assign({}, ...folders))
  await library.scan()
  const seriesIds = new Map((await library.books()).map(book => [book.series, book.seriesId]))
  for (const [name, books] of Object.entries(orders)) {
    const { body } = await admin.get(`/series/${seriesIds.get(name)}/books`)
    t.same(titles(body.data), books, name)
  }
})

check('folders of volumes are the volumes of their books', async t => {
  const files = {
    ...inFolder('Hero/Season 2', ['Hero 001', 'Hero 002']),
    ...inFolder('Hero/Season 1', ['Hero 001', 'Hero 002']),
  }
  for (const strategy of ['series_volume_chapter', 'flat']) {
    const { library, id } = await seriesOf(t, files, strategy)
    const { body } = await admin.get(`/series/${id}/books`)
    const byId = new Map((await library.books()).map(book => [book.id, book.folder]))
    t.same(
      body.data.map((b: any) => byId.get(b.id)!.at(-1)),
      ['1', '1', '2', '2'],
      strategy,
    )
    t.same(
      body.data.map((b: any) => b.volume),
      [1, 1, 2, 2],
    )
  }
})
