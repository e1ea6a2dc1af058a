// A change of strategy on 50 books: each book keeps all that readers and editors gave it and its series.
import t from 'tap'
import { testWithDoctor } from '../../kit/catalog.ts'
import { png } from '../../kit/files/archives.ts'
import type { Files } from '../../kit/files/folders.ts'
import { comic, createTestLibrary } from '../../kit/library.ts'
import { startApi } from '../../kit/server.ts'

const all = await startApi(t)
const { sql } = all
const admin = await all.createUser('admin')
const reader = await all.createUser('reader')
const check = testWithDoctor(t, all)

// Five authors, each with a series of five books in folders of their own, and a folder of five books without a series.
const count = 5
const files: Files = {}
for (let author = 1; author <= count; author++)
  for (let i = 1; i <= 5; i++) {
    const [saga, id] = [`Saga ${author}`, author * 10 + i]
    const info = `<ComicInfo><Series>${saga}</Series><Number>${i}</Number></ComicInfo>`
    files[`Author ${author}/Book ${id} (${id})/Book ${id}.cbz`] = comic({ pages: 3, info })
    files[`Author ${author}/Loose (${author})/Loose ${author} 00${i}.cbz`] = comic({ pages: 3 })
  }
const shelf = await createTestLibrary(t, all, files)
await shelf.scan()

type Client = typeof admin
const ok = async (response: ReturnType<Client['get']>): Promise<any> => {
  const { status, body } = await response
  if (status >= 300) throw new Error(`${status} ${JSON.stringify(body)}`)
  return body
}
const upload = (path: string, width: number) => {
  const raw = new FormData()
  raw.append('file', new Blob([Uint8Array.from(png(width))]), 'cover.png')
  return ok(admin.request('POST', `${path}/cover`, { raw }))
}

/** What accounts have of each book, and of the series that it belongs to. */
async function stateOfBooks() {
  const books = await sql<{ id: string }[]>`
    select b.id, b.title, b.summary, b.locks, encode(b.custom_cover, 'hex') as cover,
      array(select to_jsonb(p) - 'updated_at' from progress p where p.book_id = b.id) as progress,
      array(select jsonb_build_array(m.read_list_id, m.position) from read_list_book m
        where m.book_id = b.id order by 1) as "readLists",
      array(select account_id from want_to_read w where w.book_id = b.id) as wanted
    from book b where b.library_id = ${shelf.id}`
  return new Map(books.map(book => [book.id, book]))
}
async function stateOfSeries() {
  const books = await sql<
    { id: string; collections: string[]; ratings: string[]; wanted: string[]; tags: string[] }[]
  >`
    select b.id,
      array(select m.collection_id from collection_series m where m.series_id = b.series_id) as collections,
      array(select u.account_id || ' ' || u.rating from user_rating u where u.series_id = b.series_id) as ratings,
      array(select w.account_id from want_to_read w where w.series_id = b.series_id) as wanted,
      array(select g.tag_id from series_sharing_tag g where g.series_id = b.series_id) as tags
    from book b where b.library_id = ${shelf.id}`
  return new Map(books.map(book => [book.id, book]))
}
const titles = async () =>
  await sql<{ title: string; books: number }[]>`
    select title, book_count as books from series
    where library_id = ${shelf.id} and book_count > 0 order by sort_key, id`

check('50 books move to other series and back', async t => {
  const books = await shelf.books()
  t.equal(books.length, 10 * count)
  const ids = books.map(book => book.id)
  t.equal(new Set(books.map(book => book.seriesId)).size, 6 * count, 'each folder is a series')
  for (const [i, { id }] of books.entries()) {
    await ok(admin.patch(`/books/${id}/metadata`, { summary: `Summary ${i}`, title: `Title ${i}` }))
    await ok(admin.put(`/books/${id}/metadata/locks`, { publisherLock: true }))
    await ok(
      reader.put(`/books/${id}/progress`, { currentPage: 1 + (i % 3), isCompleted: i % 3 === 2 }),
    )
    if (i % 10 === 0) await upload(`/books/${id}`, 10 + i)
  }
  await ok(reader.post('/want-to-read/bulk', { bookIds: ids.slice(0, 10) }))
  const readList = await ok(
    admin.post('/readlists', { name: 'Order', ordered: true, bookIds: ids.toReversed() }),
  )
  const series = [...new Set(books.map(book => book.seriesId))]
  for (const [i, id] of series.entries()) {
    await ok(
      admin.patch(`/series/${id}/metadata`, { publisher: `Publisher ${i}`, summary: `About ${i}` }),
    )
    if (i % 3 === 0) await ok(reader.put(`/series/${id}/rating`, { rating: 1 + (i % 100) }))
    if (i % 5 === 0) await upload(`/series/${id}`, 300 + i)
  }
  await ok(admin.post('/collections', { name: 'All', seriesIds: series }))
  const few = await ok(admin.post('/collections', { name: 'Few', seriesIds: series.slice(10, 20) }))
  await ok(reader.post('/want-to-read/bulk', { seriesIds: series.slice(3, 12) }))
  const [before, placesBefore] = [await stateOfBooks(), await stateOfSeries()]

  const preview = await admin.post(`/libraries/${shelf.id}/preview-strategy`, {
    seriesStrategy: 'calibre',
  })
  t.match(preview.body, {
    seriesBefore: 6 * count,
    seriesAfter: 2 * count,
    unchangedSeries: count,
    isComplete: true,
  })
  t.match(preview.body.changedSeries[0], { bookCount: 5, sourceCount: 5 })
  t.same(await stateOfBooks(), before, 'a preview changes nothing')

  const change = async (seriesStrategy: string) => {
    await ok(admin.patch(`/libraries/${shelf.id}`, { seriesStrategy }))
    t.equal((await admin.get(`/libraries/${shelf.id}`)).body.strategiesChanged, true)
    const scan = await shelf.scan()
    t.equal(scan.state, 'completed')
    t.equal((await admin.get(`/libraries/${shelf.id}`)).body.strategiesChanged, false)
    t.same(await stateOfBooks(), before, `${seriesStrategy}: what is of the books`)
    const places = await stateOfSeries()
    for (const [id, old] of placesBefore) {
      const now = places.get(id)!
      for (const name of ['collections', 'wanted'] as const)
        if (!old[name].every(value => now[name].includes(value)))
          t.fail(`${seriesStrategy}: ${name}`)
      if (old.ratings.length > 0 && now.ratings.length === 0) t.fail(`${seriesStrategy}: ratings`)
    }
  }
  await change('calibre')
  t.same(
    [...new Set((await titles()).map(s => `${s.title.replace(/\d+/, 'N')} ${s.books}`))],
    ['Loose 5', 'Saga N 5'],
  )
  const merged = await sql`
    select count(*) filter (where summary like 'About %' and 'summary' = any(locks)) as described,
      count(*) filter (where custom_cover is not null) as covered
    from series where library_id = ${shelf.id} and book_count > 0`
  t.equal(
    Number(merged[0]!.described),
    2 * count,
    'every series has the edits of one that it was made of',
  )
  t.equal(Number(merged[0]!.covered), 6, 'and its cover')
  const order = await admin.get(`/readlists/${readList.id}/books?pageSize=500`)
  const listed = order.body.data.map((book: { id: string }) => book.id)
  t.same(listed, ids.toReversed().slice(0, listed.length), 'the order of a read list')
  t.ok((await admin.get(`/collections/${few.id}/series`)).body)

  await change('flat')
  await change('series_volume')
  const back = await shelf.books()
  t.equal(new Set(back.map(book => book.seriesId)).size, 6 * count)
  const described = await sql`
    select count(*) as n from series where library_id = ${shelf.id} and book_count > 0 and summary like 'About %'`
  t.equal(Number(described[0]!.n), 6 * count, 'edits of series that were merged are found again')
  t.equal((await shelf.scan()).changed ?? 0, 0)
})

check(
  'of series that are merged, the edited one with most books gives what only one can give',
  async t => {
    const info = '<ComicInfo><Series>Saga</Series></ComicInfo>'
    const lib = await createTestLibrary(t, all, {
      'Author/Few (1)/1.cbz': comic({ info }),
      'Author/Many (2)/2.cbz': comic({ info }),
      'Author/Many (2)/3.cbz': comic({ info }),
      // The largest remains, and has no edits of its own.
      ...Object.fromEntries([4, 5, 6].map(n => [`Author/Most (3)/${n}.cbz`, comic({ info })])),
    })
    await lib.scan()
    const facts = async (name: string) => {
      const { seriesId } = await lib.book(name)
      const [row] = await sql`
        select publisher, summary, locks, provenance->'summary' as origin,
          encode(custom_cover, 'hex') as cover,
          (select rating from user_rating where series_id = s.id)
        from series s where id = ${seriesId}`
      return { ...row, locks: row!.locks.toSorted() }
    }
    for (const [i, name] of ['1.cbz', '2.cbz'].entries()) {
      const { seriesId } = await lib.book(name)
      const edits = { publisher: `Publisher ${i}`, summary: `About ${i}` }
      await ok(admin.patch(`/series/${seriesId}/metadata`, edits))
      await ok(reader.put(`/series/${seriesId}/rating`, { rating: 30 + i }))
      await upload(`/series/${seriesId}`, 500 + i)
    }
    const many = await facts('2.cbz')
    t.match(many, { summary: 'About 1', rating: 31, cover: /./, origin: /./ })
    await ok(admin.patch(`/libraries/${lib.id}`, { seriesStrategy: 'calibre' }))
    await lib.scan()
    t.equal(new Set((await lib.books()).map(book => book.seriesId)).size, 1)
    t.same(await facts('1.cbz'), many)
  },
)

check('a strategy cannot be changed during a scan, and the same one is no change', async t => {
  await ok(
    admin.patch(`/libraries/${shelf.id}`, { seriesStrategy: 'series_volume', seriesConfig: {} }),
  )
  t.equal((await admin.get(`/libraries/${shelf.id}`)).body.strategiesChanged, false)
  await sql`insert into scan (id, library_id, mode) values (gen_random_uuid(), ${shelf.id}, 'normal')`
  const { status, body } = await admin.patch(`/libraries/${shelf.id}`, { seriesStrategy: 'flat' })
  t.match({ status, body }, { status: 409, body: { error: 'Conflict' } })
  await sql`update scan set state = 'cancelled' where state = 'queued'`
})
