// Release inbox of the API: matches, states with their history, visibility, events.
import { test } from 'tap'
import { hideSeries } from '../../kit/accounts.ts'
import { doctorFindings } from '../../kit/catalog.ts'
import { comic, createTestLibrary } from '../../kit/library.ts'
import { insertReleaseSource, item, poll, pollItems } from '../../kit/releases/polls.ts'
import { startApi } from '../../kit/server.ts'

const info = (series: string, more: string) =>
  `<?xml version="1.0"?><ComicInfo><Series>${series}</Series>${more}</ComicInfo>`

test('releases', async t => {
  const api = await startApi(t)
  const { sql } = api
  const library = await createTestLibrary(t, api, {
    'Blue Period/v01.cbz': comic({ info: info('Blue Period', '<Volume>1</Volume>') }),
    'Blue Period/v02.cbz': comic({ info: info('Blue Period', '<Volume>2</Volume>') }),
    'Chainsaw/c001.cbz': comic(),
    'Secret Garden/c005.cbz': comic(),
    'Untracked/c001.cbz': comic(),
  })
  await library.scan()
  const admin = await api.createUser('admin')
  const reader = await api.createUser('reader')
  const series = Object.fromEntries(
    (await sql<{ id: string; name: string }[]>`select id, name from series`).map(row => [
      row.name,
      row.id,
    ]),
  )
  const idOf = (name: string) => series[name]!
  const source = await insertReleaseSource(sql)
  const list = async (query = '', who = admin) => (await who.get(`/releases?${query}`)).body

  await t.test('tracking starts with what the books have', async t => {
    const before = await admin.get(`/series/${idOf('Blue Period')}/tracking`)
    t.match(before.body, { tracked: false, trackChapters: true, createdAt: null })
    for (const name of ['Blue Period', 'Chainsaw', 'Secret Garden'])
      t.equal(
        (await admin.patch(`/series/${idOf(name)}/tracking`, { tracked: true })).body.tracked,
        true,
      )
    const tracking = (await admin.get(`/series/${idOf('Blue Period')}/tracking`)).body
    t.match(tracking, { trackChapters: false, trackVolumes: true, latestKnownVolume: 2 })
    const { aliases } = (await admin.get(`/series/${idOf('Blue Period')}/aliases`)).body
    t.match(aliases, [{ alias: 'Blue Period', normalized: 'blue period', source: 'metadata' }])
    t.equal((await admin.get(`/series/${idOf('Blue Period')}`)).body.tracked, true)
    t.equal((await admin.get(`/series/${idOf('Untracked')}`)).body.tracked, false)
    const condition = { isTracked: { operator: 'isTrue' } }
    t.equal((await admin.post('/series/list', { condition })).body.total, 3)
    const not = { isTracked: { operator: 'isFalse' } }
    t.equal((await admin.post('/series/list', { condition: not })).body.total, 1)
    const changes = {
      trackVolumes: false,
      languages: ['fr'],
      volumeChapterMap: { 1: { start: 1, end: 4 } },
    }
    const path = `/series/${idOf('Untracked')}/tracking`
    t.match((await admin.patch(path, changes)).body, { tracked: false, ...changes }, 'before it is')
    await admin.patch(path, { trackVolumes: true, languages: null, volumeChapterMap: null })
  })

  await t.test('a poll announces what is not owned', async t => {
    const items = [
      item({
        externalReleaseId: 'a',
        seriesTitles: ['BLUE  period!'],
        volumes: [{ start: 3, end: 3 }],
      }),
      item({
        externalReleaseId: 'b',
        seriesTitles: ['Blue Period'],
        volumes: [{ start: 1, end: 2 }],
      }),
      item({
        externalReleaseId: 'c',
        seriesTitles: ['Blue Period'],
        chapters: [{ start: 9, end: 9 }],
      }),
      item({ externalReleaseId: 'd', seriesTitles: ['Untracked'] }),
      item({
        externalReleaseId: 'e',
        seriesTitles: ['Secret Garden'],
        language: 'fr',
        chapters: [{ start: 6.5, end: 6.5 }],
      }),
      item({
        externalReleaseId: 'f',
        seriesTitles: ['X', 'Chainsaw'],
        chapters: [
          { start: 5, end: 4 },
          { start: 6, end: 6 },
        ],
      }),
      item({ externalReleaseId: 'f', seriesTitles: ['Chainsaw'] }),
    ]
    await pollItems(sql, source.id, items)
    const inbox = await list()
    t.equal(inbox.total, 3)
    t.match(
      inbox.data.map((release: { externalReleaseId: string }) => release.externalReleaseId),
      ['a', 'f', 'e'],
      'by title of the series',
    )
    const [first, second] = inbox.data
    t.match(first, {
      ...{ seriesId: idOf('Blue Period'), seriesTitle: 'Blue Period', sourceId: source.id },
      ...{ mediaUrl: null, infoHash: null, chapters: null, volumes: [{ start: 3, end: 3 }] },
      ...{ confidence: 0.95, state: 'announced', releasedAt: null, metadata: { title: 'A title' } },
    })
    t.same(second.chapters, [{ start: 4, end: 6 }], 'spans are sorted and joined')
    t.equal((await list('state=hidden')).total, 2)
    t.equal((await list('state=ignored')).total, 2)
    t.equal((await list('state=all')).total, 5)
    const [source1] = (await admin.get('/release-sources')).body.sources
    t.match(
      source1.lastSummary,
      /7 releases: 3 announced, 2 hidden, 1 known, 1 for untracked series/,
    )
    const tracking = (await admin.get(`/series/${idOf('Blue Period')}/tracking`)).body
    t.equal(tracking.latestKnownVolume, 3)
    t.equal(tracking.latestKnownChapter, null, 'chapters are not tracked')
    const french = (await admin.get(`/series/${idOf('Secret Garden')}/tracking`)).body
    t.equal(french.latestKnownChapter, 5, 'a release in another language')
    const [event] = await sql`select data from event where type = 'release_announced' order by id`
    t.match(event!.data.events[0], {
      sourceId: source.id,
      pluginId: source.sourceId,
      language: 'en',
    })
  })

  await t.test('the same releases again change nothing', async t => {
    await pollItems(sql, source.id, [
      item({
        externalReleaseId: 'a',
        seriesTitles: ['Blue Period'],
        volumes: [{ start: 4, end: 4 }],
      }),
    ])
    t.equal((await list('state=all')).total, 5)
    const other = await insertReleaseSource(sql)
    const infoHash = 'ABCDEF0123456789ABCDEF0123456789ABCDEF01'
    const torrent = { seriesTitles: ['Chainsaw'], infoHash }
    await pollItems(sql, source.id, [item({ externalReleaseId: 'hash', ...torrent })])
    await pollItems(sql, other.id, [
      item({ externalReleaseId: 'elsewhere', ...torrent, infoHash: infoHash.toLowerCase() }),
    ])
    t.equal((await list('state=all')).total, 6)
  })

  await t.test('states and their history', async t => {
    const [release] = (await list(`seriesId=${idOf('Blue Period')}`)).data
    const path = `/releases/${release.id}`
    t.equal((await admin.post(`${path}/dismiss`)).body.state, 'dismissed')
    t.equal((await admin.patch(path, { state: 'ignored' })).body.state, 'hidden')
    t.equal((await admin.patch(path, { state: 'hidden' })).body.state, 'hidden')
    t.equal((await admin.post(`${path}/mark-acquired`)).body.state, 'marked_acquired')
    t.equal((await admin.patch(path, { state: 'new' })).body.state, 'announced')
    t.equal((await admin.patch(path, { state: 'all' })).status, 400)
    t.equal((await reader.post(`${path}/dismiss`)).status, 403)
    const history = (await admin.get(`${path}/history`)).body.data
    t.match(history, [
      {
        fromState: null,
        toState: 'announced',
        userId: null,
        reason: 'announced',
        details: { by: 'alias', alias: 'Blue Period' },
      },
      { fromState: 'announced', toState: 'dismissed', userId: admin.id, reason: 'request' },
      { toState: 'hidden' },
      { toState: 'marked_acquired' },
      { fromState: 'marked_acquired', toState: 'announced' },
    ])
    t.equal(history.length, 5)
    const ids = (await list('state=all')).data.map((release: { id: string }) => release.id)
    const bulk = (action: string, of = ids) => admin.post('/releases/bulk', { ids: of, action })
    t.same((await bulk('dismiss')).body, { affected: 6, action: 'dismiss' })
    t.equal((await list('state=dismissed')).total, 6)
    t.equal((await bulk('reset')).body.affected, 6)
    t.equal((await bulk('ignore', [])).status, 400)
    t.equal((await list()).total, 6)
  })

  await t.test('a deleted release can come back', async t => {
    const [release] = (await list(`seriesId=${idOf('Blue Period')}&state=all`)).data
    t.same((await admin.delete(`/releases/${release.id}`)).body, { deleted: true })
    t.equal((await admin.delete(`/releases/${release.id}`)).status, 404)
    let cursor: unknown = 'none'
    await poll(sql, source.id, query => {
      cursor = query.cursor
      const again = item({
        externalReleaseId: release.externalReleaseId,
        seriesTitles: ['Blue Period'],
      })
      return { items: [again], cursor: null, isLast: true }
    })
    t.equal(cursor, null, 'the source is read from its beginning')
    t.equal((await list('state=all')).total, 6)
  })

  await t.test('facets, each without its own filter', async t => {
    const facets = (await admin.get('/releases/facets?state=all&language=fr')).body
    t.same(
      facets.languages.map((facet: { language: string }) => facet.language),
      ['en', 'fr'],
    )
    t.match(facets.series, [{ seriesTitle: 'Secret Garden', count: 1, libraryName: String }])
    t.match(facets.libraries, [{ libraryId: library.id, count: 1 }])
  })

  await t.test('an order is named as the field, in either case', async t => {
    const ids = async (query: string) =>
      (await list(`state=all&${query}`)).data.map(({ id }: { id: string }) => id)
    for (const [name, ...others] of [
      ['observed', 'observedAt', 'observed_at'],
      ['released', 'releasedAt', 'released_at'],
      ['series', 'seriesTitle', 'series_title'],
    ])
      for (const other of others)
        t.same(await ids(`sort=${other},desc`), await ids(`sort=${name},desc`), other)
  })

  await t.test('releases of hidden series do not exist', async t => {
    const [secret] = (await list(`seriesId=${idOf('Secret Garden')}&state=all`)).data
    await hideSeries(sql, reader.id, [idOf('Secret Garden')])
    t.equal((await list('state=all', reader)).total, 5)
    t.equal((await list('state=all&sort=observed,desc', reader)).total, 5)
    t.equal((await list(`state=all&libraryId=${library.id}`, reader)).total, 5)
    t.equal((await list(`state=all&seriesId=${idOf('Secret Garden')}`, reader)).total, 0)
    t.equal((await reader.get(`/releases/${secret.id}`)).status, 404)
    t.equal((await reader.get(`/series/${idOf('Secret Garden')}/releases`)).status, 404)
    const facets = (await reader.get('/releases/facets?state=all')).body
    t.same(facets.languages, [{ language: 'en', count: 5 }])
    t.equal(facets.series.length, 2)
    t.equal((await reader.get(`/series/${idOf('Chainsaw')}/releases`)).body.total, 2)
  })

  await t.test('a scan marks what it brings as acquired', async t => {
    const announced = item({
      ...{
        externalReleaseId: 'wanted',
        seriesTitles: ['Chainsaw'],
        chapters: [{ start: 2, end: 2 }],
      },
    })
    await pollItems(sql, source.id, [announced])
    await library.write('Chainsaw/c002.cbz', comic({ pages: 2 }))
    await library.scan()
    const releases = (await list(`seriesId=${idOf('Chainsaw')}&state=marked_acquired`)).data
    t.match(releases, [{ externalReleaseId: 'wanted' }])
    const history = (await admin.get(`/releases/${releases[0].id}/history`)).body.data
    t.match(history.at(-1), { fromState: 'announced', toState: 'marked_acquired', reason: 'scan' })
  })
  t.same(await doctorFindings(api), [], 'the doctor finds nothing')
  await t.test('a title with a year is known without it, too', async t => {
    const path = `/series/${idOf('Untracked')}`
    await admin.patch(path, { title: 'Paradise (2006)' })
    await admin.patch(`${path}/tracking`, { tracked: true })
    const { aliases } = (await admin.get(`${path}/aliases`)).body
    const titles = aliases.map(({ alias }: { alias: string }) => alias)
    t.same(titles.sort(), ['Paradise', 'Paradise (2006)', 'Untracked'])
  })
})
