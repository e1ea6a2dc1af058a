// Behavior shared by collections and read lists: counts for each account after any change, names that are hidden,
// filters and orders of their contents.
import t from 'tap'
import { hideSeries } from '../../kit/accounts.ts'
import { comic, createTestLibrary } from '../../kit/library.ts'
import { startApi } from '../../kit/server.ts'

const info = (genre: string, year: number) =>
  comic({
    info: `<?xml version="1.0"?><ComicInfo><Genre>${genre}</Genre><Year>${year}</Year></ComicInfo>`,
  })

const all = await startApi(t)
const { sql } = all
const admin = await all.createUser('admin')
const limited = await all.createUser('maintainer')
const young = await all.createUser('reader')
const library = await createTestLibrary(t, all, {
  'A/1.cbz': info('Drama', 2001),
  'A/2.cbz': info('Drama', 2005),
  'B/1.cbz': info('Drama', 2003),
  'C/1.cbz': info('Comedy', 2002),
  'D/1.cbz': info('Comedy', 2004),
})
const other = await createTestLibrary(t, all, { 'X/1.cbz': info('Drama', 1999) })
await library.scan()
await other.scan()
const series = await sql<{ id: string; name: string }[]>`select id, name from series order by name`
const books = await sql<{ id: string; name: string }[]>`
  select b.id, s.name || convert_from(b.name, 'UTF8') as name from book b join series s on s.id = b.series_id order by 2`
const names = new Map([...series, ...books].map(({ id, name }) => [id, name.replace('.cbz', '')]))
const [a, b, c, d, x] = series.map(({ id }) => id) as [string, string, string, string, string]
const bookIds = books.map(({ id }) => id)
const [a1] = bookIds as [string]
await hideSeries(sql, limited.id, [d])
await admin.patch(`/users/${young.id}`, { ageLimit: 12 })

type Caller = typeof admin
const kinds = {
  collections: { member: 'series', idsKey: 'seriesIds', count: 'seriesCount' },
  readlists: { member: 'books', idsKey: 'bookIds', count: 'bookCount' },
} as const
type Kind = keyof typeof kinds
const make = async (kind: Kind, ids: string[], more: object = {}) => {
  const body = { name: crypto.randomUUID(), [kinds[kind].idsKey]: ids, ...more }
  return (await admin.post(`/${kind}`, body)).body.id as string
}
/** The count, equal in the list and the single record; null where it is not listed. */
const countOf = async (kind: Kind, id: string, by: Caller) => {
  const { count } = kinds[kind]
  const { data: items } = (await by.get(`/${kind}?pageSize=500`)).body
  const listed = items.find((item: { id: string }) => item.id === id)?.[count] ?? null
  const { status, body } = await by.get(`/${kind}/${id}`)
  t.equal(status === 200 ? body[count] : null, listed)
  return listed
}
const contents = async (kind: Kind, id: string, query: string, by: Caller = admin) => {
  const { body } = await by.get(`/${kind}/${id}/${kinds[kind].member}?pageSize=50&${query}`)
  const shown = body.data.map((item: { id: string }) => names.get(item.id))
  t.equal(body.total, shown.length, query)
  return shown.join(' ')
}

t.test('counts follow the members and what is hidden', async t => {
  const readList = await make('readlists', bookIds)
  const collection = await make('collections', [a, b, d])
  t.equal(await countOf('readlists', readList, limited), 5, 'D is hidden')
  t.equal(await countOf('collections', collection, limited), 2)
  t.equal(await countOf('readlists', readList, young), 6)
  await admin.delete(`/readlists/${readList}/books/${bookIds[2]}`)
  await admin.post(`/collections/${collection}/series`, { seriesIds: [c] })
  t.equal(await countOf('readlists', readList, limited), 4)
  t.equal(await countOf('collections', collection, limited), 3)
  await admin.patch(`/books/${a1}/metadata`, { ageRating: 18 })
  t.equal(await countOf('readlists', readList, young), 4, 'beyond the age limit')
  t.notMatch(await contents('readlists', readList, '', young), /A1/)
  await admin.patch(`/series/${b}/metadata`, { ageRating: 18 })
  t.equal(await countOf('collections', collection, young), 3)
  await sql`update book set missing_at = now() where id = ${a1}`
  t.equal(await countOf('readlists', readList, admin), 4, 'missing')
  await sql`update book set missing_at = null where id = ${a1}`
  t.equal(await countOf('readlists', readList, admin), 5)
  await sql`update book set series_id = ${d} where id = ${a1}`
  t.equal(await countOf('readlists', readList, limited), 3, 'moved to a hidden series')
  await sql`update book set series_id = ${a} where id = ${a1}`
  for (const id of [a1, b])
    await admin.patch(`/${id === b ? 'series' : 'books'}/${id}/metadata`, { ageRating: null })
})

t.test('a name is taken by what the caller sees', async t => {
  for (const [kind, hidden, seen] of [
    ['collections', [d], [a]],
    ['readlists', [bookIds[4]!], [a1]],
  ] as const) {
    await make(kind, [...hidden], { name: 'Hidden' })
    const id = await make(kind, [...seen], { name: 'Seen' })
    t.equal((await limited.post(`/${kind}`, { name: 'seen' })).status, 409)
    const made = await limited.post(`/${kind}`, { name: 'hidden' })
    t.equal(made.status, 201, 'as if there were none')
    t.equal((await limited.post(`/${kind}`, { name: 'HIDDEN' })).status, 409, 'its own')
    t.equal((await admin.post(`/${kind}`, { name: 'Hidden' })).status, 409)
    t.equal((await limited.patch(`/${kind}/${made.body.id}`, { name: 'Seen' })).status, 409)
    t.equal((await limited.patch(`/${kind}/${id}`, { name: 'Seen' })).status, 200)
  }
  const all = await Promise.all(
    Array.from({ length: 4 }, () => limited.post('/readlists', { name: 'At once' })),
  )
  t.same(all.map(({ status }) => status).sort(), [201, 409, 409, 409])
})

t.test('contents are filtered and sorted as other lists', async t => {
  const ofSeries = await make('collections', [x, d, c, b, a], { ordered: true })
  t.equal(await contents('collections', ofSeries, ''), 'X D C B A')
  t.equal(await contents('collections', ofSeries, `libraryId=${library.id}`), 'D C B A')
  t.equal(await contents('collections', ofSeries, 'genres=drama'), 'X B A')
  t.equal(
    await contents('collections', ofSeries, `genres=drama&libraryId=${library.id}&sort=title`),
    'A B',
  )
  t.equal(await contents('collections', ofSeries, 'sort=book_count,desc').then(s => s[0]), 'A')
  t.equal(await contents('collections', ofSeries, 'sort=date_added&order=desc'), 'X D C B A')
  t.equal(await contents('collections', ofSeries, 'sort=name&genres=comedy', limited), 'C')
  const drama = { genre: { operator: 'is', value: 'drama' } }
  const ruled = await make('collections', [], { condition: drama, seriesIds: undefined })
  t.equal(await contents('collections', ruled, 'sort=title,desc'), 'X B A')
  t.equal(await contents('collections', ruled, `libraryId=${other.id}`), 'X')
  t.equal(await contents('collections', ruled, 'genres=comedy', limited), '')
  const ofBooks = await make('readlists', bookIds.toReversed(), { ordered: true })
  t.equal(await contents('readlists', ofBooks, ''), 'X1 D1 C1 B1 A2 A1')
  t.equal(await contents('readlists', ofBooks, `seriesId=${a}`), 'A2 A1')
  t.equal(await contents('readlists', ofBooks, `libraryId=${other.id}`), 'X1')
  t.equal(await contents('readlists', ofBooks, 'sort=release_date,desc'), 'A2 D1 B1 C1 A1 X1')
  t.equal(
    await contents('readlists', ofBooks, `sort=release_date&libraryId=${library.id}`, limited),
    'A1 C1 B1 A2',
  )
})
