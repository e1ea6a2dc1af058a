import assert from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import { atomEntry } from '../../lib/opds/atom/entry.ts'
import { atomFeed } from '../../lib/opds/atom/feed.ts'
import { searchDescription } from '../../lib/opds/atom/opensearch.ts'
import { clean } from '../../lib/opds/atom/xml.ts'
import { acquisition, navigation } from '../../lib/opds/feed.ts'
import { palaceEntry, palaceFeed, thoriumEntry, thoriumFeed } from '../kit/opds/parsers.ts'
import { relaxErrors } from '../kit/opds/relax-ng.ts'
import {
  anyBook,
  anyText,
  at,
  book,
  find,
  hostileTitles,
  hrefs,
  linesOf,
  root,
  shelf,
  writing,
  writingAt,
} from './atom-values.ts'

t.test('hostile titles survive in feeds that strict validators accept', async t => {
  const entries = hostileTitles.map(title => shelf({ title, cover: '/series/1', count: 2 }))
  const shelves = atomFeed(
    navigation({ path: '/series', title: hostileTitles[0]!, entries }),
    writing,
  )
  t.same(relaxErrors(shelves), [])
  t.same(find(shelves, 'a:entry/a:title'), hostileTitles)
  t.same(
    thoriumFeed(shelves).Navigation!.map(link => link.Title),
    hostileTitles,
  )
  t.same(
    (await palaceFeed(shelves)).entries.map(entry => entry.title),
    hostileTitles,
  )

  const books = hostileTitles.map(title =>
    book({ title, number: null, summary: title, fileName: `${title}.cbz` }),
  )
  const feed = acquisition({ path: '/series/1', title: 'Of one', books, isMixed: false })
  const xml = atomFeed(feed, writing)
  t.same(relaxErrors(xml), [])
  t.same(find(xml, 'a:entry/a:title'), hostileTitles)
  t.same(
    thoriumFeed(xml).Publications!.map(({ Metadata }) => Metadata.Title),
    hostileTitles,
  )
  t.same(
    (await palaceFeed(xml)).entries.map(entry => entry.title),
    hostileTitles,
  )
  for (const each of books) {
    const entry = atomEntry({ ...each, series: { ...each.series, title: each.title } }, writing)
    t.same(relaxErrors(entry), [])
    t.equal(thoriumEntry(entry).Metadata.Title, each.title)
    t.equal((await palaceEntry(entry)).title, each.title)
  }
})

t.test('whatever is in the catalogue, feeds are valid and hold all of it', async () => {
  const feeds = fc.record({
    title: anyText,
    books: fc.array(anyBook, { maxLength: 3 }),
    isMixed: fc.boolean(),
    query: fc.record({ q: anyText }),
    page: fc.integer({ min: 1, max: 5 }),
    facet: anyText,
  })
  await fc.assert(
    fc.asyncProperty(feeds, async ({ title, books, isMixed, query, page, facet }) => {
      const facets = [{ title: 'Tag', facets: [{ title: facet, query, count: 3, isActive: true }] }]
      const paging = { page, pageSize: 50, total: 120 }
      const up = { path: '', title: facet, kind: 'navigation' as const }
      const said = { path: '/search', title, books, isMixed, query, facets, paging, up }
      const xml = atomFeed(acquisition(said), writing)
      assert.deepEqual(relaxErrors(xml), [])
      const palace = await palaceFeed(xml)
      assert.deepEqual(
        palace.entries.map(({ id }) => id),
        books.map(({ id }) => `urn:uuid:${id}`),
      )
      assert.equal((thoriumFeed(xml).Publications ?? []).length, books.length)
      const described = find(xml, 'a:entry/a:content')
      for (const [i, { summary }] of books.entries()) {
        const lines = clean(summary ?? '')
          .trim()
          .split(/\s+/)
        for (const isFoliate of [false, true]) {
          const plain = linesOf(described[i]!, { isFoliate }).join(' ')
          assert.ok(plain.replace(/\s+/g, ' ').trim().endsWith(lines.join(' ')))
        }
      }
      for (const each of books) assert.deepEqual(relaxErrors(atomEntry(each, writing)), [])
    }),
    { numRuns: 60 },
  )
})

t.test(
  'names are permanent: neither address, tree, page nor order of parameters is in them',
  async t => {
    const other = writingAt('http://127.0.0.1:8080', '/opds/k/secret/v1/books/recent')
    const idOf = (said: object, by = writing) =>
      find(atomFeed(acquisition({ path: '/books/recent', title: 'New', ...said }), by), 'a:id')[0]
    const plain = idOf({})
    t.match(plain, /^urn:uuid:[\da-f]{8}-[\da-f]{4}-5[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/)
    // A change here makes every client take all feeds for new.
    t.equal(plain, 'urn:uuid:a59a5429-b694-594c-ab67-52f87628b133')
    t.equal(idOf({}, other), plain)
    t.equal(idOf({ title: 'Newest', paging: { page: 2, pageSize: 50, total: 99 } }), plain)
    t.equal(idOf({ query: { tag: undefined } }), plain)
    t.equal(idOf({ query: { a: 1, b: 2 } }), idOf({ query: { b: 2, a: 1 } }))
    t.not(idOf({ query: { tag: 'x' } }), plain)
    t.not(idOf({ query: { tag: 'x' } }), idOf({ query: { tag: 'y' } }))

    const { id } = book()
    const series = { path: `/series/${id}`, id }
    t.equal(idOf(series), `urn:uuid:${id}`)
    t.not(
      idOf({ ...series, query: { read: 'unread' } }),
      `urn:uuid:${id}`,
      'other content, other id',
    )
    const each = shelf({ ...series, title: 'It' })
    const entries = [each, shelf({ path: '/tags' })]
    const xml = atomFeed(navigation({ path: '/series', title: 'All', entries }), writing)
    const tags = atomFeed(navigation({ path: '/tags', title: 'Tags' }), writing)
    t.same(find(xml, 'a:entry/a:id'), [`urn:uuid:${id}`, find(tags, 'a:id')[0]])
  },
)

t.test('a feed was updated when the newest of its entries was, else when anything was', async t => {
  const updated = (xml: string) => find(xml, 'a:updated')[0]
  const books = [book({ updated: at(3) }), book({ updated: at(9) }), book({ updated: at(5) })]
  const feed = acquisition({ path: '/on-deck', title: 'Next', books, updated: at(20) })
  const xml = atomFeed(feed, writing)
  t.equal(updated(xml), '2026-05-09T10:20:30Z')
  t.ok(find(xml, 'a:entry/a:updated').includes(updated(xml)!))
  t.equal(updated(atomFeed({ ...feed, books: [] }, writing)), '2026-05-20T10:20:30Z')
  t.equal(updated(atomFeed({ ...feed, books: [], updated: null }, writing)), '2026-05-01T10:20:30Z')

  const entries = [shelf({ updated: null }), shelf({ updated: new Date(0) })]
  const shelves = atomFeed(navigation({ path: '', title: 'Root', entries }), writing)
  t.equal(updated(shelves), '2026-05-01T10:20:30Z')
  t.same(find(shelves, 'a:entry/a:updated'), ['2026-05-01T10:20:30Z', '1970-01-01T00:00:00Z'])
})

t.test('entries of shelves lead to one feed each and are not taken for books', async t => {
  const entries = [
    shelf({ path: '/books/recent', title: 'New', rel: 'http://opds-spec.org/sort/new' }),
    shelf({
      path: '/series',
      query: { tag: 'a b&c' },
      title: 'Tagged',
      kind: 'navigation',
      count: 12,
    }),
    shelf({ path: '/series/1', title: 'Covered', cover: '/series/1', count: 0 }),
  ]
  const xml = atomFeed(navigation({ path: '', title: 'Root', up: null, entries }), writing)
  t.same(relaxErrors(xml), [])
  const { Publications, Navigation } = thoriumFeed(xml)
  t.equal(Publications, undefined)
  t.match(Navigation, [
    {
      Title: 'New',
      Href: `${root}/books/recent`,
      TypeLink: 'application/atom+xml;profile=opds-catalog;kind=acquisition',
      Rel: ['http://opds-spec.org/sort/new'],
    },
    {
      Title: 'Tagged',
      Href: `${root}/series?tag=a%20b%26c`,
      TypeLink: 'application/atom+xml;profile=opds-catalog;kind=navigation',
      Rel: ['subsection'],
      Properties: { NumberOfItems: 12 },
    },
    { Title: 'Covered', Href: `${root}/series/1` },
  ])
  t.equal((await palaceFeed(xml)).constructor.name, 'NavigationFeed')
  const covered = "a:entry[a:title='Covered']/a:link[@type='image/jpeg']/@href"
  t.same(find(xml, covered), [`${root}/series/1/cover.jpg`, `${root}/series/1/thumbnail.jpg`])
  t.same(find(xml, "a:entry[a:title='Covered']/a:link/@thr:count"), ['0'])
  t.match(xml, '<content type="text"/>')
})

t.test(
  'every feed leads home, up and to the search; the root alone to the other catalogue',
  async t => {
    const up = { path: '/series', title: 'All series', kind: 'navigation' } as const
    const matching = {
      path: '/series',
      query: { search: 'x' },
      title: 'Series',
      kind: 'navigation',
    } as const
    const xml = atomFeed(
      acquisition({ path: '/series/1', title: 'It', up, related: [matching] }),
      writing,
    )
    t.same(hrefs(xml, 'self'), [`${root}/series/1`])
    t.same(hrefs(xml, 'start'), [`${root}/catalog`])
    t.same(hrefs(xml, 'up'), [`${root}/series`])
    t.same(hrefs(xml, 'search'), [`${root}/search.xml`])
    t.same(hrefs(xml, 'related'), [`${root}/series?search=x`])
    t.same(hrefs(xml, 'alternate'), [])
    t.same(find(xml, 'a:author/a:name'), ['Attic & <Sons>'])

    const home = atomFeed(navigation({ path: '', title: 'Catalogue', up: null }), writing)
    t.same(hrefs(home, 'self'), [`${root}/catalog`])
    t.same(hrefs(home, 'up'), [])
    t.same(hrefs(home, 'alternate'), ['https://books.example/base/opds/v2'])
    t.same(find(home, "a:link[@rel='alternate']/@type"), ['application/opds+json'])
  },
)

t.test(
  'pages lead to their neighbours, with filters and size, and back from past the end',
  async t => {
    const query = { q: 'a&b é', page: undefined }
    const feed = (page: number, pageSize = 50, total = 120) =>
      atomFeed(
        acquisition({ path: '/search', title: 'Found', query, paging: { page, pageSize, total } }),
        writing,
      )
    const rels = (xml: string) =>
      Object.fromEntries(
        ['self', 'first', 'previous', 'next', 'last'].map(rel => [
          rel,
          hrefs(xml, rel).map(href => href.replace(`${root}/search?q=a%26b%20%C3%A9`, ''))[0],
        ]),
      )
    t.same(rels(feed(1)), {
      self: '',
      first: '',
      previous: undefined,
      next: '&page=2',
      last: '&page=3',
    })
    t.same(rels(feed(2)), {
      self: '&page=2',
      first: '',
      previous: '',
      next: '&page=3',
      last: '&page=3',
    })
    t.same(rels(feed(3)).next, undefined)
    t.same(rels(feed(9)).previous, '&page=3')
    t.same(rels(feed(9)).next, undefined)
    t.same(rels(feed(2, 10)).next, '&page=3&pageSize=10')
    t.same(find(feed(3), 'os:*'), ['120', '50', '101'])
    t.same(find(feed(1, 50, 0), 'os:*'), ['0', '50', '1'])
    t.match(thoriumFeed(feed(2)).Metadata, { NumberOfItems: 120, ItemsPerPage: 50 })
    t.match((await palaceFeed(feed(2))).search, { totalResults: 120, startIndex: 51 })
    t.same(relaxErrors(feed(2)), [])

    const unpaged = atomFeed(acquisition({ path: '/search', title: 'Found' }), writing)
    t.same([...hrefs(unpaged, 'first'), ...find(unpaged, 'os:*')], [])
  },
)

t.test('facets stand in their groups, with counts, and only the chosen one is active', async t => {
  const facets = [
    {
      title: 'Read status',
      facets: [
        { title: 'All', query: { tag: 'x' }, count: 4, isActive: false },
        { title: 'Unread', query: { tag: 'x', read: 'unread' }, count: 0, isActive: true },
      ],
    },
    {
      title: 'Tag',
      facets: [{ title: '"A" & b', query: { tag: 'x' }, count: 2, isActive: false }],
    },
  ]
  const xml = atomFeed(acquisition({ path: '/series/1', title: 'It', facets }), writing)
  t.same(relaxErrors(xml), [])
  const facet = "a:link[@rel='http://opds-spec.org/facet']"
  t.same(find(xml, `${facet}/@href`), [
    `${root}/series/1?tag=x`,
    `${root}/series/1?tag=x&read=unread`,
    `${root}/series/1?tag=x`,
  ])
  t.same(find(xml, `${facet}[@opds:activeFacet]/@title`), ['Unread'])
  t.same(find(xml, `${facet}/@thr:count`), ['4', '0', '2'])
  t.match(thoriumFeed(xml).Facets, [
    { Metadata: { Title: 'Read status' }, Links: [{ Title: 'All' }, { Title: 'Unread' }] },
    { Metadata: { Title: 'Tag' }, Links: [{ Title: 'Tag: "A" & b' }] },
  ])
  const shelves = atomFeed(navigation({ path: '/series', title: 'All', facets }), writing)
  t.same(find(shelves, facet), [], 'only feeds of books have any')
})

t.test('KOReader finds the beginning of every facet, whatever it is called', async t => {
  const words = [
    '科幻',
    'Приключения',
    '!!!',
    'äther',
    '& co',
    '\u0001',
    '.hack',
    '2000 AD',
    'Żart',
  ]
  const facets = [
    { title: 'Tag', facets: words.map(title => ({ title, query: {}, count: 1, isActive: false })) },
  ]
  const xml = atomFeed(acquisition({ path: '/series/1', title: 'It', facets }), writing)
  t.same(find(xml, "a:link[@rel='http://opds-spec.org/facet']/@title"), [
    ...['Tag: 科幻', 'Tag: Приключения', 'Tag: !!!', 'Tag: äther', 'Tag: & co', 'Untitled'],
    ...['.hack', '2000 AD', 'Tag: Żart'],
  ])
})

t.test('the description of the search has a name that fits', async t => {
  const xml = searchDescription(writing.links, `\u0000A & 👨‍👩‍👧‍👦 library of many words`)
  const [short] = find(xml, 'os:ShortName')
  t.equal(short, 'A & 👨‍👩‍👧‍👦')
  t.same(find(xml, 'os:Url/@template'), [`${root}/search?q={searchTerms}`])
  t.same(find(xml, 'os:Url/@type'), ['application/atom+xml;profile=opds-catalog;kind=acquisition'])
  t.same(find(searchDescription(writing.links, '\u0001'), 'os:ShortName'), ['Untitled'])
})
