// Ratings of series by accounts and by other services, alternate titles, and lists that use them.
import { test } from 'tap'
import { newId } from '../../../lib/base/id.ts'
import { hideSeries } from '../../kit/accounts.ts'
import { comic, createTestLibrary } from '../../kit/library.ts'
import { startApi } from '../../kit/server.ts'

test('ratings and titles', async t => {
  const all = await startApi(t)
  const library = await createTestLibrary(t, all, {
    'Alpha/1.cbz': comic(),
    'Beta/1.cbz': comic(),
    'Gamma/1.cbz': comic(),
  })
  await library.scan()
  const { sql } = all
  const ids = Object.fromEntries(
    (await sql<{ name: string; id: string }[]>`select name, id from series`).map(s => [
      s.name,
      s.id,
    ]),
  ) as Record<string, string>
  const nameOf = (id: string) => Object.keys(ids).find(name => ids[name] === id)
  const admin = await all.createUser('admin')
  const reader = await all.createUser('reader')
  const rating = (name: string) => `/series/${ids[name]}/rating`
  const sorted = async (sort: string, client = reader) =>
    (await client.get(`/series?sort=${sort}`)).body.data.map((s: { id: string }) => nameOf(s.id))
  const filtered = async (condition: object, client = reader) =>
    (await client.post('/series/list', { condition })).body.data.map((s: { id: string }) =>
      nameOf(s.id),
    )

  t.test('an account rates a series, with notes that only it reads', async t => {
    t.equal((await reader.get(rating('Alpha'))).status, 204)
    t.equal((await reader.delete(rating('Alpha'))).status, 404)
    const first = await reader.put(rating('Alpha'), { rating: 90, notes: ' Great ' })
    t.match(first, { status: 200, body: { rating: 90, notes: 'Great', seriesId: ids.Alpha } })
    const second = await reader.put(rating('Alpha'), { rating: 70 })
    t.match(second.body, { rating: 70, notes: 'Great', id: first.body.id })
    t.same((await reader.get(rating('Alpha'))).body, second.body)
    t.equal((await reader.put(rating('Alpha'), { rating: 70, notes: null })).body.notes, null)
    t.equal((await reader.put(rating('Alpha'), second.body)).status, 200, 'sent back')
    for (const body of [{ rating: 0 }, { rating: 101 }, { rating: 1.5 }, {}])
      t.equal((await reader.put(rating('Alpha'), body)).status, 400)
    t.equal((await admin.get(rating('Alpha'))).status, 204, 'nothing of another account')
    t.equal((await reader.put(`/series/${newId()}/rating`, { rating: 5 })).status, 404)
    const many = { rating: 5, notes: 'x'.repeat(10_001) }
    t.equal((await reader.put(rating('Alpha'), many)).status, 400)
  })

  t.test('lists have own ratings, sort and filter by them and by the mean', async t => {
    await reader.put(rating('Gamma'), { rating: 30 })
    await admin.put(rating('Gamma'), { rating: 100 })
    await admin.put(rating('Beta'), { rating: 10 })
    const { data } = (await reader.get('/series')).body
    t.same(
      data.map((s: { userRating: number | null }) => s.userRating),
      [70, null, 30],
    )
    t.equal((await reader.get(`/series/${ids.Alpha}`)).body.userRating, 70)
    t.same(await sorted('user_rating,desc'), ['Alpha', 'Gamma', 'Beta'])
    t.same(await sorted('rating,asc', admin), ['Beta', 'Gamma', 'Alpha'])
    t.same(await sorted('community_rating,desc'), ['Alpha', 'Gamma', 'Beta'])
    t.same(await filtered({ userRating: { operator: 'gte', value: 50 } }), ['Alpha'])
    t.same(await filtered({ userRating: { operator: 'isNull' } }), ['Beta'])
    t.same(await filtered({ hasUserRating: { operator: 'isTrue' } }, admin), ['Beta', 'Gamma'])
    t.same(await filtered({ communityRating: { operator: 'eq', value: 65 } }), ['Gamma'])
    const books = await reader.post('/books/list', {
      condition: { userRating: { operator: 'lt', value: 50 } },
    })
    t.match(books.body, { total: 1, data: [{ seriesId: ids.Gamma }] })
    t.same((await reader.get(`/series/${ids.Gamma}/ratings/average`)).body, {
      average: 65,
      count: 2,
    })
    t.same((await admin.get(`/series/${ids.Alpha}/ratings/average`)).body, {
      average: 70,
      count: 1,
    })
    const own = (await reader.get('/user/ratings')).body.data
    t.same(
      own.map((r: { seriesId: string }) => nameOf(r.seriesId)),
      ['Gamma', 'Alpha'],
    )
    t.match((await reader.get('/user/ratings?pageSize=1')).body, { total: 2, totalPages: 2 })
  })

  t.test('ratings of other services, one for each', async t => {
    const path = `/series/${ids.Beta}/external-ratings`
    const first = await admin.post(path, { sourceName: 'critics', rating: 88.5, voteCount: 12 })
    t.match(first, { status: 200, body: { rating: 88.5, voteCount: 12, seriesId: ids.Beta } })
    const again = await admin.post(path, { source: 'critics', rating: 90 })
    t.match(again.body, { id: first.body.id, rating: 90, voteCount: null })
    await admin.post(path, { sourceName: 'readers', rating: 40 })
    t.equal((await admin.post(path, { sourceName: 'x', rating: 100.5 })).status, 400)
    t.equal((await reader.post(path, { sourceName: 'x', rating: 1 })).status, 403)
    const { ratings } = (await reader.get(path)).body
    t.match(ratings, [{ sourceName: 'critics' }, { sourceName: 'readers' }])
    t.same((await reader.get(`/series/${ids.Beta}?full=true`)).body.externalRatings, ratings)
    const { metadata } = (await reader.get(`/series/${ids.Beta}/context`)).body
    t.same(metadata.externalRatings, [
      { source: 'critics', rating: 90, votes: null },
      { source: 'readers', rating: 40, votes: null },
    ])
    t.same(await sorted('external_rating,desc'), ['Beta', 'Alpha', 'Gamma'])
    t.equal((await admin.delete(`${path}/critics`)).status, 204)
    t.equal((await admin.delete(`${path}/critics`)).status, 404)
    await admin.delete(`/series/${ids.Beta}/metadata`)
    t.same((await reader.get(path)).body.ratings, [], 'a reset deletes them')
  })

  t.test('alternate titles have ids that stay', async t => {
    const path = `/series/${ids.Beta}/alternate-titles`
    const added = await admin.post(path, { label: 'ja', title: 'ベータ' })
    t.match(added, { status: 201, body: { label: 'ja', title: 'ベータ', seriesId: ids.Beta } })
    t.match(await admin.post(path, { label: 'ja', title: 'ベータ' }), {
      status: 200,
      body: { id: added.body.id },
    })
    const second = await admin.post(path, { label: '', title: 'The Second' })
    const changed = await admin.patch(`${path}/${second.body.id}`, { label: 'en' })
    t.match(changed.body, { id: second.body.id, label: 'en', title: 'The Second' })
    const taken = await admin.patch(`${path}/${second.body.id}`, { label: 'ja', title: 'ベータ' })
    t.equal(taken.status, 409)
    t.equal((await admin.patch(`${path}/${newId()}`, { label: 'x' })).status, 404)
    t.equal((await reader.post(path, { label: 'x', title: 'x' })).status, 403)
    const metadata = (await reader.get(`/series/${ids.Beta}/metadata`)).body
    t.same(metadata.alternateTitles, [
      { label: 'ja', title: 'ベータ' },
      { label: 'en', title: 'The Second' },
    ])
    t.equal(metadata.locks.alternateTitles, true)
    const found = await reader.post('/series/search', { query: 'second' })
    t.match(found.body.data, [{ id: ids.Beta }], 'found by an alternate title')
    const alternateTitles = [...metadata.alternateTitles, { label: 'de', title: 'Zweites' }]
    await admin.patch(`/series/${ids.Beta}/metadata`, { alternateTitles })
    const { titles } = (await reader.get(path)).body
    t.match(titles, [{ id: added.body.id }, { id: second.body.id }, { label: 'de' }])
    t.equal((await admin.delete(`${path}/${added.body.id}`)).status, 204)
    t.equal((await admin.delete(`${path}/${added.body.id}`)).status, 404)
    t.equal((await reader.get(path)).body.titles.length, 2)
    await admin.delete(`/series/${ids.Beta}/metadata`)
    t.same((await reader.get(path)).body.titles, [])
  })

  t.test('nothing of hidden series, not even what the account recorded', async t => {
    await hideSeries(sql, reader.id, [ids.Gamma!])
    t.equal((await reader.get(rating('Gamma'))).status, 404)
    t.equal((await reader.get(`/series/${ids.Gamma}/ratings/average`)).status, 404)
    t.equal((await reader.get(`/series/${ids.Gamma}/alternate-titles`)).status, 404)
    t.equal((await reader.put(rating('Gamma'), { rating: 1 })).status, 404)
    t.same((await reader.get('/user/ratings')).body.data.length, 1)
  })
})
