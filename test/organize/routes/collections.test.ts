// Collections over HTTP: hand-picked, ordered and by rule, and their visibility.
import t from 'tap'
import { newId } from '../../../lib/base/id.ts'
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
const editor = await all.createUser('maintainer')
const reader = await all.createUser('reader')
const sheltered = await all.createUser('reader')
const limited = await all.createUser('maintainer')
const library = await createTestLibrary(t, all, {
  'A/1.cbz': info('Drama', 2001),
  'B/1.cbz': info('Drama', 2003),
  'C/1.cbz': info('Comedy', 2002),
  'D/1.cbz': info('Comedy', 2004),
  'E/1.cbz': info('Secret', 2000),
  'E/2.cbz': info('Secret', 2000),
})
await library.scan()
const rows = await sql<{ id: string; name: string }[]>`select id, name from series order by name`
const [a, b, c, d, e] = rows.map(row => row.id) as [string, string, string, string, string]
const nameOf = new Map(rows.map(({ id, name }) => [id, name]))
for (const { id } of [sheltered, limited]) await hideSeries(sql, id, [e])

type Caller = typeof admin
const create = async (body: object, by: Caller = admin) =>
  (await by.post('/collections', { name: newId(), ...body })).body
const namesIn = async (id: string, query = '', by: Caller = admin) => {
  const { status, body } = await by.get(`/collections/${id}/series${query}`)
  if (status !== 200) return status
  return body.data.map((s: { id: string }) => nameOf.get(s.id)).join('')
}
const listed = async (by: Caller) => {
  const { data: items, total } = (await by.get('/collections?pageSize=500')).body
  t.equal(items.length, total)
  return items.map((item: { id: string }) => item.id) as string[]
}

t.test('a collection is created, changed and deleted', async t => {
  const name = '  Best of é '
  const made = await editor.post('/collections', { name, summary: 'Text', ordered: true })
  t.equal(made.status, 201)
  t.match(made.body, { name: 'Best of é', summary: 'Text', ordered: true, automatic: false })
  t.match(made.body, { seriesCount: 0, condition: null })
  const path = `/collections/${made.body.id}`
  t.equal((await editor.post('/collections', { name: 'BEST OF É' })).status, 409)
  for (const bad of [{ name: ' ' }, {}, { name: 'x', ordered: 1 }, { name: 'x', seriesIds: ['y'] }])
    t.equal((await editor.post('/collections', bad)).status, 400, JSON.stringify(bad))
  t.equal((await reader.post('/collections', { name: 'x' })).status, 403)
  t.match((await editor.patch(path, { summary: null })).body, { summary: null, ordered: true })
  const renamed = await editor.patch(path, { name: 'Other' })
  t.match(renamed.body, { name: 'Other', ordered: true })
  const again = await editor.patch(path, { name: 'Other' })
  t.equal(again.body.updatedAt, renamed.body.updatedAt, 'nothing is written twice')
  t.same((await reader.get(path)).body, { ...again.body })
  t.equal((await editor.delete(path)).status, 204)
  t.equal((await editor.delete(path)).status, 404)
  t.equal((await reader.get(path)).status, 404)
})

t.test('members keep the order by hand', async t => {
  const { id } = await create({ ordered: true, seriesIds: [c, a] })
  const path = `/collections/${id}/series`
  t.equal(await namesIn(id), 'CA')
  t.match((await editor.post(path, { seriesIds: [a, d, d, b] })).body, { seriesCount: 4 })
  t.equal(await namesIn(id), 'CADB')
  t.match((await editor.post(path, { seriesIds: [d] })).body, { seriesCount: 4 })
  t.equal(await namesIn(id), 'CADB', 'adding again changes nothing')
  t.equal((await editor.put(path, { seriesIds: [b, d, a, c] })).status, 204)
  t.equal(await namesIn(id), 'BDAC')
  await editor.put(path, { seriesIds: [c, newId(), b] })
  t.equal(await namesIn(id), 'CDAB', 'only the listed ones exchange their places')
  t.equal(await namesIn(id, '?sort=title'), 'ABCD')
  t.equal(await namesIn(id, '?sort=title&direction=desc'), 'DCBA')
  t.equal(await namesIn(id, '?sort=added&direction=desc'), 'BDAC')
  t.equal(await namesIn(id, '?sort=position&page=2&pageSize=3'), 'B')
  t.match((await reader.get(`${path}?page=1&pageSize=3`)).body, { total: 4, totalPages: 2 })
  t.equal((await editor.post(path, { seriesIds: [newId()] })).status, 404)
  t.equal((await editor.delete(`${path}/${d}`)).status, 204)
  t.equal((await editor.delete(`${path}/${d}`)).status, 204)
  t.equal(await namesIn(id), 'CAB')
  const replacing = { seriesIds: [d, c], ordered: true }
  const replaced = await editor.patch(`/collections/${id}`, replacing)
  t.equal(await namesIn(id), 'DC', 'replaced')
  t.equal(await namesIn((await create({ seriesIds: [c, a] })).id), 'AC', 'by title by default')
  const again = await editor.patch(`/collections/${id}`, replacing)
  t.equal(again.body.updatedAt, replaced.body.updatedAt, 'nothing is removed and added again')
})

t.test('members that are added at the same time are all sheltered', async t => {
  const { id } = await create({ ordered: true })
  const ids = [a, b, c, d]
  await Promise.all(
    ids.map(one => editor.post(`/collections/${id}/series`, { seriesIds: [one, a] })),
  )
  const members = await sql`
    select count(*)::integer as n, count(distinct position)::integer as places
    from collection_series where collection_id = ${id}`
  t.same([...members], [{ n: 4, places: 4 }])
})

t.test('a rule selects the series for the account that views it', async t => {
  const drama = { genre: { operator: 'is', value: 'drama' } }
  const made = await create({ condition: drama })
  t.match(made, { automatic: true, condition: drama, seriesCount: null })
  t.equal(await namesIn(made.id), 'AB')
  t.equal(await namesIn(made.id, '?sort=year&direction=desc'), 'BA')
  t.equal(await namesIn(made.id, '?sort=manual'), 'AB')
  const member = await editor.post(`/collections/${made.id}/series`, { seriesIds: [a] })
  t.equal(member.status, 409)
  t.equal((await editor.put(`/collections/${made.id}/series`, { seriesIds: [a] })).status, 409)
  t.equal((await editor.delete(`/collections/${made.id}/series/${a}`)).status, 409)
  for (const condition of [
    { allOf: [] },
    { anyOf: [] },
    { inCollection: { operator: 'isTrue' } },
    { allOf: [drama, { in_collection: { operator: 'isFalse' } }] },
    { sharingTag: { operator: 'is', value: 'x' } },
    { genre: { operator: 'unknown' } },
    { genre: { operator: 'isNull', value: 'a\0b' } },
  ])
    t.equal((await admin.post('/collections', { name: newId(), condition })).status, 400)
  const both = { name: newId(), ordered: true, condition: drama }
  t.equal((await admin.post('/collections', both)).status, 400)
  t.equal((await admin.patch(`/collections/${made.id}`, { ordered: true })).status, 400)

  const unread = await create({ condition: { readStatus: { operator: 'is', value: 'read' } } })
  t.equal(await namesIn(unread.id, '', reader), '')
  await reader.post(`/series/${c}/read`, {})
  t.equal(await namesIn(unread.id, '', reader), 'C')
  t.equal(await namesIn(unread.id, '', editor), '')

  const { id } = await create({ seriesIds: [d] })
  t.match((await admin.patch(`/collections/${id}`, { condition: drama })).body, { automatic: true })
  t.equal(await namesIn(id), 'AB')
  t.match((await admin.patch(`/collections/${id}`, { condition: null })).body, { seriesCount: 1 })
  t.equal(await namesIn(id), 'D', 'the hand-picked series are back')
})

t.test('an account sees no more of a collection than of its series', async t => {
  const mixed = await create({ ordered: true, seriesIds: [e, a, b] })
  const secret = await create({ seriesIds: [e] })
  const empty = await create({})
  const rule = await create({ condition: { genre: { operator: 'is', value: 'Secret' } } })
  const others = await create({ condition: { genre: { operator: 'isNot', value: 'Comedy' } } })
  t.same((await listed(admin)).filter(id => [mixed.id, secret.id, empty.id].includes(id)).length, 3)
  const ofLimited = await listed(limited)
  const ofSheltered = await listed(sheltered)
  for (const { id } of [secret, rule]) {
    t.notOk(ofLimited.includes(id) || ofSheltered.includes(id))
    for (const path of ['', '/series', '/thumbnail', '/series/full'])
      t.equal((await sheltered.get(`/collections/${id}${path}`)).status, 404, path)
    const path = `/collections/${id}`
    t.equal((await limited.patch(path, { name: 'x' })).status, 404)
    t.equal((await limited.post(`${path}/series`, { seriesIds: [a] })).status, 404)
    t.equal((await limited.put(`${path}/series`, { seriesIds: [a] })).status, 404)
    t.equal((await limited.delete(`${path}/series/${a}`)).status, 404)
    t.equal((await limited.delete(path)).status, 404)
  }
  t.ok(ofLimited.includes(empty.id), 'those who may add to it see an empty one')
  t.notOk(ofSheltered.includes(empty.id))
  t.equal((await sheltered.get(`/collections/${empty.id}`)).status, 404)
  t.equal(await namesIn(others.id, '', sheltered), 'AB')
  t.equal(await namesIn(mixed.id, '', sheltered), 'AB')
  t.match((await sheltered.get(`/collections/${mixed.id}`)).body, { seriesCount: 2 })
  t.notOk('condition' in (await sheltered.get(`/collections/${others.id}`)).body)
  t.ok('condition' in (await limited.get(`/collections/${others.id}`)).body)

  await limited.put(`/collections/${mixed.id}/series`, { seriesIds: [b, e, a] })
  t.equal(await namesIn(mixed.id), 'EBA', 'the hidden one stays where it was')
  await limited.patch(`/collections/${mixed.id}`, { seriesIds: [c] })
  t.equal(await namesIn(mixed.id), 'EC', 'and a member')
  await limited.delete(`/collections/${mixed.id}/series/${e}`)
  t.equal(await namesIn(mixed.id), 'EC')
  const hidden = await limited.post(`/collections/${empty.id}/series`, { seriesIds: [a, e] })
  t.equal(hidden.status, 404)
})

t.test('hidden series that come and go change nothing for others', async t => {
  const { id } = await create({ seriesIds: [a] })
  const seen = async () => {
    const answers = [limited, sheltered].map(who => who.get(`/collections/${id}`))
    return (await Promise.all(answers)).map(({ body }) => body)
  }
  const before = await seen()
  await admin.post(`/collections/${id}/series`, { seriesIds: [e] })
  t.same(await seen(), before)
  await admin.delete(`/collections/${id}/series/${e}`)
  t.same(await seen(), before)
  await admin.patch(`/collections/${id}`, { summary: 'Changed' })
  t.match(await seen(), [{ summary: 'Changed' }, { summary: 'Changed' }])
})

t.test('series say in which collections they are', async t => {
  const one = await create({ name: 'Ä first', seriesIds: [a, e] })
  const two = await create({ name: 'Z last', seriesIds: [a] })
  const { body } = await reader.get(`/series/${a}/collections?pageSize=500`)
  const ids = body.data.map((item: { id: string }) => item.id)
  t.ok(ids.includes(one.id) && ids.includes(two.id))
  t.equal(body.total, ids.length)
  t.equal((await sheltered.get(`/series/${e}/collections`)).status, 404)
  const ofSeries = (await reader.get(`/series/${a}`)).body.collections
  t.same(ofSeries.at(-1), { id: two.id, name: 'Z last' })
  const list = async (operator: string, by = reader) => {
    const condition = { inCollection: { operator } }
    const { body } = await by.post('/series/list', { condition })
    return body.data.map((s: { id: string }) => nameOf.get(s.id)).join('')
  }
  await sql`delete from collection where id not in (${one.id}, ${two.id})`
  t.equal(await list('isTrue'), 'AE')
  t.equal(await list('isFalse'), 'BCD')
  t.equal(await list('isTrue', sheltered), 'A')
  const condition = { inCollection: { operator: 'isTrue' } }
  const books = (await reader.post('/books/list', { condition })).body
  t.equal(books.total, 3, 'books of these series')
})

t.test('members stay while their files are missing, and leave with the series', async t => {
  const { id } = await create({ ordered: true, seriesIds: [d, c] })
  library.remove('D/1.cbz')
  await library.scan()
  t.equal(await namesIn(id), 'C')
  t.match((await admin.get(`/collections/${id}`)).body, { seriesCount: 1 })
  library.write('D/1.cbz', info('Comedy', 2004))
  await library.scan()
  t.equal(await namesIn(id), 'DC')
  library.remove('D/1.cbz')
  await library.scan()
  await admin.delete(`/libraries/${library.id}/purge-deleted`)
  const left = await sql`select series_id as id from collection_series where collection_id = ${id}`
  t.same(
    left.map(row => row.id),
    [c],
  )
})
