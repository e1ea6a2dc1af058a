// The inbox of an account: followed series, and what it has seen or dismissed, apart from other accounts.
import { test } from 'tap'
import { hideSeries } from '../../kit/accounts.ts'
import { comic, createTestLibrary } from '../../kit/library.ts'
import { insertReleaseSource, item, pollItems } from '../../kit/releases/polls.ts'
import { startApi } from '../../kit/server.ts'

test('an inbox is that of its account', async t => {
  const api = await startApi(t)
  const { sql } = api
  const library = await createTestLibrary(t, api, {
    'Blue Period/v01.cbz': comic(),
    'Chainsaw/v01.cbz': comic(),
    'Secret Garden/v01.cbz': comic(),
  })
  await library.scan()
  const admin = await api.createUser('admin')
  const ana = await api.createUser('reader')
  const ben = await api.createUser('reader')
  const rows = await sql<{ id: string; name: string }[]>`select id, name from series`
  const idOf = (name: string) => rows.find(row => row.name === name)!.id
  const [blue, chainsaw, secret] = ['Blue Period', 'Chainsaw', 'Secret Garden'].map(idOf)
  const source = await insertReleaseSource(sql)
  const inboxOf = async (who: typeof ana, query = '') => {
    const { body } = await who.get(`/releases?followed=true&sort=observed,asc${query}`)
    return body.data.map((release: { externalReleaseId: string }) => release.externalReleaseId)
  }
  const countOf = async (who: typeof ana) => (await who.get('/releases/inbox')).body
  const volume = (id: string, title: string, n: number) =>
    item({ externalReleaseId: id, seriesTitles: [title], volumes: [{ start: n, end: n }] })

  await t.test('a reader follows a series, which is tracked from then on', async t => {
    t.same(await countOf(ana), { followed: 0, unseen: 0 })
    t.match((await ana.get(`/series/${blue}/tracking`)).body, { isFollowed: false, tracked: false })
    for (const _ of [1, 2]) t.equal((await ana.put(`/series/${blue}/follow`)).status, 204)
    await ana.put(`/series/${secret}/follow`)
    await ben.put(`/series/${chainsaw}/follow`)
    t.match((await ana.get(`/series/${blue}/tracking`)).body, { isFollowed: true, tracked: true })
    t.match((await ben.get(`/series/${blue}/tracking`)).body, { isFollowed: false, tracked: true })
    t.same(await countOf(ana), { followed: 2, unseen: 0 })
  })

  await t.test('the inbox has their releases', async t => {
    await pollItems(sql, source.id, [
      volume('b2', 'Blue Period', 2),
      volume('b3', 'Blue Period', 3),
      volume('c2', 'Chainsaw', 2),
    ])
    t.same((await inboxOf(ana)).sort(), ['b2', 'b3'])
    t.same(await inboxOf(ben), ['c2'])
    t.same(await inboxOf(admin), [], 'an administrator follows nothing')
    t.equal((await admin.get('/releases')).body.total, 3)
    t.same(await countOf(ana), { followed: 2, unseen: 2 })
    const { series } = (await ana.get('/releases/facets?followed=true')).body
    t.match(series, [{ seriesId: blue, count: 2 }])
    t.equal(series.length, 1)
  })

  const releaseId = async (id: string) => {
    const [row] = await sql`select id from release where external_release_id = ${id}`
    return row!.id as string
  }
  const mark = (who: typeof ana, action: string, ...ids: string[]) =>
    who.post('/releases/inbox', { ids, action })

  await t.test('seen and dismissed are those of the account', async t => {
    const [b2, b3, c2] = await Promise.all(['b2', 'b3', 'c2'].map(releaseId))
    t.same((await mark(ana, 'see', b2!)).body, { affected: 1 })
    t.same(await countOf(ana), { followed: 2, unseen: 1 })
    t.match((await ana.get(`/releases/${b2}`)).body, { isSeen: true, isDismissed: false })
    t.match((await ben.get(`/releases/${b2}`)).body, { isSeen: false, isDismissed: false })
    t.same((await mark(ana, 'dismiss', b2!, b3!, c2!)).body, { affected: 3 })
    t.same(await inboxOf(ana), [])
    t.same(await countOf(ana), { followed: 2, unseen: 0 })
    t.match((await ana.get('/releases/facets?followed=true')).body, { series: [], languages: [] })
    t.same(await inboxOf(ben), ['c2'])
    t.match((await ben.get(`/releases/${b2}`)).body, { state: 'announced', isDismissed: false })
    await mark(ana, 'see', b2!)
    t.match((await ana.get(`/releases/${b2}`)).body, { isDismissed: true }, 'it stays dismissed')
    await mark(ana, 'restore', b2!)
    t.same(await inboxOf(ana), ['b2'])
    t.match((await ana.get(`/releases/${b2}`)).body, { isSeen: true, isDismissed: false })
    const [states] = await sql`select count(*)::integer as n from release where state = 'announced'`
    t.equal(states!.n, 3, 'the ledger is as before')
  })

  await t.test('what is hidden is in no inbox', async t => {
    await hideSeries(sql, ben.id, [chainsaw!])
    t.same(await inboxOf(ben), [])
    t.same(await countOf(ben), { followed: 0, unseen: 0 })
    t.same((await mark(ben, 'dismiss', await releaseId('c2'))).body, { affected: 0 })
    for (const method of ['put', 'delete'] as const)
      t.equal((await ben[method](`/series/${chainsaw}/follow`)).status, 404)
  })

  await t.test(
    'a series that is no longer followed leaves the inbox, and stays tracked',
    async t => {
      t.equal((await ana.delete(`/series/${blue}/follow`)).status, 204)
      t.same(await inboxOf(ana), [])
      t.same(await countOf(ana), { followed: 1, unseen: 0 })
      t.match((await ana.get(`/series/${blue}/tracking`)).body, {
        isFollowed: false,
        tracked: true,
      })
    },
  )
})
