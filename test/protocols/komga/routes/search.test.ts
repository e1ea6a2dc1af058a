// Searches of Komga's clients beyond the words of titles: names of collections and read lists, ISBNs; and its metrics.
import t from 'tap'
import { enableKomga } from '../../../kit/komga.ts'
import { startApiWithoutPipeline } from '../../../kit/server.ts'
import { makeKomgaFacts, storeKomgaFacts } from '../search/facts.ts'

const all = await startApiWithoutPipeline(t)
const facts = makeKomgaFacts(4, 30)
await storeKomgaFacts(all.sql, facts)
const admin = await all.createUser('admin')
await enableKomga(admin)

async function request(method: string, path: string, body?: object, key = admin.key) {
  const response = await fetch(`${all.base}/komga${path}`, {
    method,
    headers: { 'x-api-key': key, 'content-type': 'application/json' },
    ...(body ? { body: JSON.stringify(body) } : {}),
  })
  const text = await response.text()
  return { status: response.status, json: text === '' ? null : JSON.parse(text) }
}
const get = async (path: string) => (await request('GET', path)).json
const [present] = await all.sql<{ series: string; book: string }[]>`
  select series_id as series, id as book from book where missing_at is null order by id limit 1`

t.test('collections and read lists are found by word, phrase, field and beginning', async t => {
  const names = ['Favs of Ana', 'Anthologies', 'Favs, later']
  for (const name of names) {
    const collection = { name, ordered: false, seriesIds: [present!.series] }
    t.equal((await request('POST', '/api/v1/collections', collection)).status, 200)
    const readList = { name, summary: '', ordered: true, bookIds: [present!.book] }
    t.equal((await request('POST', '/api/v1/readlists', readList)).status, 200)
  }
  const found: [string, string[]][] = [
    ['favs', ['Favs of Ana', 'Favs, later']],
    ['"Favs of"', ['Favs of Ana']],
    ['name:Favs', ['Favs of Ana', 'Favs, later']],
    ['name:"Favs, later"', ['Favs, later']],
    ['Anth*', ['Anthologies']],
    ['ana favs', ['Favs of Ana']],
    ['nothing', []],
  ]
  for (const [search, expected] of found)
    for (const path of ['collections', 'readlists']) {
      const { content } = await get(`/api/v1/${path}?search=${encodeURIComponent(search)}`)
      const listed = content.map(({ name }: { name: string }) => name)
      t.same(
        listed.filter((name: string) => names.includes(name)).sort(),
        expected,
        `${path}: ${search}`,
      )
    }
})

t.test(
  'a bare ISBN finds its book, with or without hyphens, of ten digits or of thirteen',
  async t => {
    await all.sql`update book set isbn = '9783161484100' where id = ${present!.book}`
    for (const isbn of ['9783161484100', '978-3-16-148410-0', '316148410X', 'isbn:9783161484100']) {
      const body = { fullTextSearch: isbn }
      const { json } = await request('POST', '/api/v1/books/list', body)
      t.same(
        json.content.map(({ id }: { id: string }) => id),
        [present!.book],
        isbn,
      )
    }
    const other = await request('POST', '/api/v1/books/list', { fullTextSearch: '9780306406157' })
    t.same(other.json.content, [])
  },
)

t.test('changed links of a series are locked', async t => {
  const path = `/api/v1/series/${present!.series}`
  const change = { links: [{ label: 'Publisher', url: 'https://example.org/' }] }
  t.equal((await request('PATCH', `${path}/metadata`, change)).status, 204)
  t.match((await get(path)).metadata, { ...change, linksLock: true })
  t.equal((await request('PATCH', `${path}/metadata`, { linksLock: false })).status, 204)
  t.equal((await get(path)).metadata.linksLock, false)
  const links = ['a', 'b'].map(name => ({ label: 'Shop', url: `https://${name}.example/` }))
  t.equal((await request('PATCH', `${path}/metadata`, { links })).status, 204)
  t.same(
    (await get(path)).metadata.links.map(({ url }: { url: string }) => url).sort(),
    ['https://a.example/', 'https://b.example/'],
    'both of one label',
  )
})

t.test('sharing labels are found by administrators only', async t => {
  const reader = await all.createUser('reader')
  await all.sql`insert into sharing_tag (id, name) values (${present!.series}, 'unmistakable')`
  await all.sql`insert into series_sharing_tag values (${present!.series}, ${present!.series})`
  const body = { fullTextSearch: 'sharing_label:unmistakable' }
  const found = async (key: string) => {
    const { json } = await request('POST', '/api/v1/series/list', body, key)
    return json.content.map(({ id }: { id: string }) => id)
  }
  t.same(await found(admin.key), [present!.series])
  t.same(await found(reader.key), [])
})

t.test('metrics have the numbers of the libraries', async t => {
  const { names } = await get('/actuator/metrics')
  t.ok(names.includes('komga.books'))
  for (const name of names) t.equal((await get(`/actuator/metrics/${name}`)).name, name)
  const whole = await get('/actuator/metrics/komga.books')
  const [tag] = whole.availableTags
  t.equal(tag.tag, 'library')
  const parts = await Promise.all(
    tag.values.map((id: string) => get(`/actuator/metrics/komga.books?tag=library:${id}`)),
  )
  const numberOf = (metric: typeof whole): number => metric.measurements[0].value
  t.equal(
    parts.reduce((sum, metric) => sum + numberOf(metric), 0),
    numberOf(whole),
  )
  await all.sql`
    insert into library (id, name, root, deleting_at)
    values (gen_random_uuid(), 'Leaving', '/leaving', now())`
  // Not part of the facts.
  await all.sql`update library set size = book_count * 1000`
  const [counted] = await all.sql`
    select (select count(*)::integer from book where missing_at is null) as "komga.books",
      (select count(*)::integer * 1000 from book where missing_at is null) as "komga.books.filesize",
      (select count(*)::integer from series where book_count > 0) as "komga.series",
      ${facts.libraries.length}::integer as "komga.libraries",
      (select count(*)::integer from collection) as "komga.collections",
      (select count(*)::integer from read_list) as "komga.readlists"`
  t.same(Object.keys(counted!).sort(), names.toSorted())
  for (const [name, count] of Object.entries(counted!))
    t.equal(numberOf(await get(`/actuator/metrics/${name}`)), count, name)
  for (const path of ['komga.unknown', 'constructor', 'komga.books?tag=library:none'])
    t.equal((await request('GET', `/actuator/metrics/${path}`)).status, 404, path)
})
