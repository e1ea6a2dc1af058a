// Mapping of services that answer with JSON: search, series, releases in pages and by series, hostile answers.
import { test } from 'tap'
import type { TrackedSeries } from '../../../lib/sources/contract.ts'
import { compilePath } from '../../../lib/sources/mapping/json-path.ts'
import { relevanceOf } from '../../../lib/sources/mapping/relevance.ts'
import type { TypedRow } from '../../../lib/sources/open.ts'
import { failing } from '../failing.ts'
import { type Handler, startFeedServer } from '../feed/server.ts'
import { openTestSources } from '../sources.ts'

const call = { signal: new AbortController().signal }
const json =
  (value: unknown): Handler =>
  (_, response) =>
    void response.end(JSON.stringify(value))

const works = [
  {
    id: 7,
    names: ['Blue Box', 'Ao no Hako'],
    from: '2021-04-12',
    cover: '7.jpg',
    about: '<p>Sport</p>',
  },
  { id: 8, names: ['Blue Boxes'], from: null, cover: null, about: '' },
  { id: null, names: ['No id'] },
]
const detail = {
  data: {
    id: 7,
    title: 'Blue Box',
    status: 'RELEASING',
    score: 8.4,
    votes: 120,
    about: 'A <b>story</b>.',
    genres: [{ name: 'Sport' }, { name: 'Romance' }, { name: 'Sport' }],
    staff: [
      { name: 'K. Miura', role: 'Story' },
      { name: 'X', role: 'Assistant' },
    ],
    links: { official: 'https://blue.example/', bad: 'javascript:alert(1)' },
    other: { tracker: 99 },
    cover: 'https://images.example/7.jpg',
  },
}

const config = (base: string) => ({
  search: {
    url: `${base}/search?q={{query}}&n={{limit}}`,
    items: '$.results[*]',
    fields: {
      externalId: '$.id',
      title: '$.names[0]',
      alternateTitles: '$.names[*]',
      year: { path: '$.from', pattern: '^(\\d{4})' },
      coverUrl: { path: '$.cover', template: 'https://images.example/{{value}}' },
      summary: '$.about',
    },
  },
  series: {
    url: `${base}/works/{{externalId}}`,
    root: '$.data',
    fields: {
      coverUrl: '$.cover',
      metadata: {
        title: '$.title',
        summary: '$.about',
        status: { path: '$.status', map: { RELEASING: 'ongoing', FINISHED: 'ended' } },
        genres: '$.genres[*].name',
        authors: "$.staff[?@.role == 'Story'].name",
        year: ['$.year', '$.absent'][0]!,
      },
      externalIds: { tracker: '$.other.tracker' },
      links: { official: '$.links.official', bad: '$.links.bad' },
      rating: { value: '$.score', votes: '$.votes', maximum: 10 },
    },
  },
  releases: {
    url: `${base}/new?after={{cursor}}`,
    items: '$.list[*]',
    next: '$.next',
    language: 'en',
    fields: { id: '$.id', title: '$.title', url: '$.page', releasedAt: '$.at', seriesId: '$.work' },
  },
})

const rowOf = (value: object, credentials = {}): TypedRow => ({
  id: '1',
  type: 'http',
  name: 'tracker',
  displayName: 'Tracker',
  config: value as Record<string, unknown>,
  credentials,
  description: null,
})

test('a service is mapped to series and releases', async t => {
  const release = (n: number) => ({
    id: `r${n}`,
    title: `Blue Box v0${n} (Digital)`,
    page: `https://tracker.example/${n}`,
    at: 1_600_000_000 + n,
    work: 7,
  })
  const server = await startFeedServer(t, {
    '/search?q=Blue%20%26%20Box%2F%3F&n=5': json({ results: works }),
    '/works/7': json(detail),
    '/works/8': json({}),
    '/new?after=': json({ list: [release(1), { id: 'x' }], next: 'p2' }),
    '/new?after=p2': json({ list: [release(2)] }),
  })
  const sources = openTestSources(t)
  const row = rowOf(config(server.base), { Authorization: 'Bearer x' })
  sources.checkConfig(row)
  const source = sources.open(row)
  const hits = await source.searchSeries!({ query: 'Blue & Box/?', limit: 5 }, call)
  t.match(hits, [
    {
      externalId: '7',
      title: 'Blue Box',
      alternateTitles: ['Blue Box', 'Ao no Hako'],
      year: 2021,
      coverUrl: 'https://images.example/7.jpg',
      summary: 'Sport',
    },
    { externalId: '8', year: null, coverUrl: null, summary: null },
  ])
  t.equal(hits.length, 2)
  t.ok(hits[0]!.relevance > hits[1]!.relevance)
  t.equal(server.requests[0]!.headers.authorization, 'Bearer x')

  t.same(await source.fetchSeries!('7', call), {
    externalId: '7',
    url: null,
    hash: null,
    metadata: {
      title: 'Blue Box',
      summary: 'A story.',
      status: 'ongoing',
      genres: ['Sport', 'Romance'],
      authors: [{ name: 'K. Miura', role: 'author' }],
    },
    externalIds: [{ source: 'tracker', externalId: '99', url: null }],
    links: [{ source: 'official', url: 'https://blue.example/' }],
    ratings: [{ source: 'tracker', rating: 84, votes: 120 }],
    coverUrl: 'https://images.example/7.jpg',
  })
  t.equal(await source.fetchSeries!('8', call), null, 'without the root there is no series')
  t.equal(await source.fetchSeries!('a../9?x=#', call), null, 'ids are encoded')
  t.equal(server.requests.at(-1)!.path, '/works/a..%2F9%3Fx%3D%23')
  const sent = server.requests.length
  for (const id of ['.', '..', '../9', 'a/../../9', '..\\9', 'a/..', '%2e%2e', 'a%2f..'])
    await (/%/.test(id)
      ? t.resolves(source.fetchSeries!(id, call), `${id}: the sign is encoded`)
      : t.rejects(source.fetchSeries!(id, call), { message: /segment/ }, `${id} has no escape`))
  t.equal(server.requests.length, sent + 2)

  const first = await source.listReleases!({ key: 'releases', cursor: null, series: [] }, call)
  t.match(first, {
    isLast: false,
    items: [
      {
        externalReleaseId: 'r1',
        volumes: [{ start: 1, end: 1 }],
        language: 'en',
        seriesTitles: ['Blue Box'],
        seriesIds: { tracker: '7' },
        releasedAt: '2020-09-13T12:26:41.000Z',
      },
    ],
  })
  const second = await source.listReleases!(
    { key: 'releases', cursor: first.cursor, series: [] },
    call,
  )
  t.match(second, { isLast: true, cursor: null, items: [{ externalReleaseId: 'r2' }] })
})

test('lists by series are requested series by series', async t => {
  const item = { id: 'a', title: 'c012', page: 'https://x.example/a', names: ['Blue Box'] }
  const server = await startFeedServer(t, {
    '/of/55': json([item]),
    '/of/': json([]),
  })
  const url = `${server.base}/of/{{externalIds.tracker}}`
  const fields = { id: '$.id', title: '$.title', url: '$.page', seriesTitles: '$.names[*]' }
  const row = rowOf({ releases: { url, kind: 'rss-series', items: '$[*]', fields } })
  const sources = openTestSources(t)
  sources.checkConfig(row)
  t.match(sources.releaseSources(row), [{ key: 'releases', kind: 'rss-series' }])
  const series: TrackedSeries[] = [
    { seriesId: '1', titles: ['Blue Box'], externalIds: { tracker: '55' } },
    { seriesId: '2', titles: ['Other'], externalIds: {} },
  ]
  const page = await sources.open(row).listReleases!(
    { key: 'releases', cursor: null, series },
    call,
  )
  t.match(page.items, [{ chapters: [{ start: 12, end: 12 }], seriesTitles: ['Blue Box'] }])
  t.equal(server.requests.length, 2)
})

test('hostile answers fail alone', async t => {
  const deep = `${'['.repeat(50_000)}${']'.repeat(50_000)}`
  const bodies = {
    html: '<html>',
    deep,
    null: 'null',
    text: '"x"',
    proto: '{"__proto__":{"data":1}}',
  }
  const server = await startFeedServer(
    t,
    Object.fromEntries(
      Object.entries(bodies).map(([id, text]) => [
        `/works/${id}`,
        ((_, response) => void response.end(text)) as Handler,
      ]),
    ),
  )
  const source = openTestSources(t).open(rowOf(config(server.base)))
  await t.rejects(source.fetchSeries!('html', call), failing({ kind: 'invalid' }))
  for (const id of ['deep', 'null', 'text', 'proto'])
    t.equal(await source.fetchSeries!(id, call), null)
})

test('hostile values are no texts', async t => {
  const deep = `${'['.repeat(50_000)}${']'.repeat(50_000)}`
  const server = await startFeedServer(t, {
    '/q?%EF%BF%BD': (_, response) =>
      void response.end(
        `{"list":[{"id":1,"title":"a"},{"id":2,"title":{"toString":1}},{"id":3,"title":${deep}}]}`,
      ),
    '/of/1': json({ list: Array.from({ length: 1_000 }, () => '') }),
  })
  const loop = '{{#each value}}{{#each ../value}}{{this}}{{/each}}{{/each}}'
  const row = rowOf({
    search: {
      url: `${server.base}/q?{{query}}`,
      items: '$.list[*]',
      fields: { externalId: '$.id', title: { path: '$.title', pattern: '.*', map: { a: 'A' } } },
    },
    series: {
      url: `${server.base}/of/{{externalId}}`,
      fields: { metadata: { title: { path: '$.list', template: loop } } },
    },
  })
  const source = openTestSources(t).open(row)
  const hits = await source.searchSeries!({ query: '\ud800', limit: 5 }, call)
  t.match(hits, [{ externalId: '1', title: 'A' }])
  t.equal(hits.length, 1)
  await t.rejects(
    source.fetchSeries!('1', call),
    failing({ kind: 'invalid', message: /too many steps/ }),
  )
})

test('a stored mapping that is no longer valid is a failure of its source', async t => {
  const broken = { search: { url: 'https://x.example/{{#if', items: '$', fields: {} }, series: {} }
  const source = openTestSources(t).open(rowOf(broken))
  const failure = failing({ name: 'SourceFailure', kind: 'refused', message: /Tracker: config\./ })
  await t.rejects(source.describe(call), failure)
  await t.rejects(source.listReleases!({ key: 'x', cursor: null, series: [] }, call), failure)
})

test('invalid mappings are refused with their place', async t => {
  const sources = openTestSources(t)
  const good = config('https://x.example')
  const bad: [object, RegExp][] = [
    [{}, /config\.search, config\.bookSearch or config\.releases/],
    [{ search: good.search }, /require each other/],
    [{ ...good, search: { ...good.search, url: 'https://{{query}}/x' } }, /config\.search\.url/],
    [
      { ...good, search: { ...good.search, url: 'https://x.example/{{#if' } },
      /config\.search\.url/,
    ],
    [{ ...good, search: { ...good.search, items: '$..x' } }, /config\.search\.items/],
    [{ ...good, search: { ...good.search, items: 'constructor' } }, /config\.search\.items/],
    [
      {
        ...good,
        search: {
          ...good.search,
          fields: { ...good.search.fields, year: { path: '$.a', pattern: '(' } },
        },
      },
      /config\.search\.fields\.year/,
    ],
    [
      { ...good, releases: { ...good.releases, fields: { id: '$.id' } } },
      /config\.releases\.fields/,
    ],
  ]
  for (const [value, message] of bad)
    t.throws(() => sources.checkConfig(rowOf(value)), { name: 'Invalid', message })
})

test('JSON paths', t => {
  const document = {
    a: { 'b c': [1, { d: 2 }, [3]], é: 'x' },
    list: [
      { k: 'p', v: 1 },
      { k: 'q', v: 2 },
    ],
  }
  const cases: [string, unknown[]][] = [
    ['$', [document]],
    ["$.a['b c'][0]", [1]],
    ['$.a["b c"][-1][0]', [3]],
    ['$.a.é', ['x']],
    ['$.list[*].v', [1, 2]],
    ['$.list.*.k', ['p', 'q']],
    ["$.list[?@.k == 'q'].v", [2]],
    ['$.list[?@.v != 2].k', ['p']],
    ['$.list.length', []],
    ['$.constructor', []],
    ['$.a.b.c', []],
    ['$.list[9]', []],
  ]
  for (const [path, values] of cases) t.same(compilePath(path, 'path')(document), values, path)
  for (const path of ['', 'a', '$.', '$[', '$[?(@.a)]', '$..a', '$.a b', `$${'.a'.repeat(400)}`])
    t.throws(() => compilePath(path, 'path'), { name: 'Invalid' }, path)
  const wide = Array.from({ length: 1000 }, () => Array.from({ length: 1000 }, () => 1))
  t.equal(compilePath('$[*][*]', 'path')(wide).length, 20_000, 'the number of values is limited')
  t.end()
})

test('relevance', t => {
  t.equal(relevanceOf('MÄR Omega!', ['Mar omega']), 1)
  t.equal(relevanceOf('', ['x']), 0)
  t.ok(relevanceOf('Blue Box', ['Blue Boxes']) > 0.8)
  t.ok(relevanceOf('Blue Box', ['Blue Boxes']) < 1)
  t.ok(relevanceOf('Blue Box', ['One Piece']) < 0.2)
  t.equal(relevanceOf('Blue Box', ['One Piece', 'blue box']), 1)
  t.end()
})
