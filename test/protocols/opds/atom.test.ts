import assert from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import { removeInvalidChars } from '../../../lib/base/xml-writer.ts'
import { atomEntry } from '../../../lib/protocols/opds/atom/entry.ts'
import { atomFeed, searchDescription } from '../../../lib/protocols/opds/atom/feed.ts'
import { acquisitionFeed, navigationFeed } from '../../../lib/protocols/opds/feed.ts'
import { palaceEntry, palaceFeed, thoriumEntry, thoriumFeed } from '../../kit/opds/parsers.ts'
import { relaxErrors } from '../../kit/opds/relax-ng.ts'
import {
  anyBook,
  anyText,
  at,
  book,
  context,
  contextAt,
  entry,
  find,
  hostileTitles,
  hrefs,
  linesOf,
  root,
} from './atom-values.ts'

t.test('hostile titles are preserved in feeds that strict validators accept', async t => {
  const entries = hostileTitles.map(title => entry({ title, cover: '/series/1', count: 2 }))
  const navigation = atomFeed(
    navigationFeed({ path: '/series', title: hostileTitles[0]!, entries }),
    context,
  )
  t.same(relaxErrors(navigation), [])
  t.same(find(navigation, 'a:entry/a:title'), hostileTitles)
  t.same(
    thoriumFeed(navigation).Navigation!.map(link => link.Title),
    hostileTitles,
  )
  t.same(
    (await palaceFeed(navigation)).entries.map(entry => entry.title),
    hostileTitles,
  )

  const books = hostileTitles.map(title =>
    book({ title, number: null, summary: title, fileName: `${title}.cbz` }),
  )
  const feed = acquisitionFeed({ path: '/series/1', title: 'One series', books, isMixed: false })
  const xml = atomFeed(feed, context)
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
    const xml = atomEntry({ ...each, series: { ...each.series, title: each.title } }, context)
    t.same(relaxErrors(xml), [])
    t.equal(thoriumEntry(xml).Metadata.Title, each.title)
    t.equal((await palaceEntry(xml)).title, each.title)
  }
})

t.test('feeds of any content are valid and complete', async () => {
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
      const options = { path: '/search', title, books, isMixed, query, facets, paging, up }
      const xml = atomFeed(acquisitionFeed(options), context)
      assert.deepEqual(relaxErrors(xml), [])
      const palace = await palaceFeed(xml)
      assert.deepEqual(
        palace.entries.map(({ id }) => id),
        books.map(({ id }) => `urn:uuid:${id}`),
      )
      assert.equal((thoriumFeed(xml).Publications ?? []).length, books.length)
      const descriptions = find(xml, 'a:entry/a:content')
      for (const [i, { summary }] of books.entries()) {
        const lines = removeInvalidChars(summary ?? '')
          .trim()
          .split(/\s+/)
        for (const isFoliate of [false, true]) {
          const plain = linesOf(descriptions[i]!, { isFoliate }).join(' ')
          assert.ok(plain.replace(/\s+/g, ' ').trim().endsWith(lines.join(' ')))
        }
      }
      for (const each of books) assert.deepEqual(relaxErrors(atomEntry(each, context)), [])
    }),
    { numRuns: 60 },
  )
})

t.test('ids are permanent: independent of address, tree, page and parameter order', async t => {
  const other = contextAt('http://127.0.0.1:8080', '/opds/k/secret/v1/books/recent')
  const idOf = (options: object, ctx = context) =>
    find(
      atomFeed(acquisitionFeed({ path: '/books/recent', title: 'New', ...options }), ctx),
      'a:id',
    )[0]
  const plain = idOf({})
  t.match(plain, /^urn:uuid:[\da-f]{8}-[\da-f]{4}-5[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/)
  // With another value every client would consider all feeds new.
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
    'other content has another id',
  )
  const seriesEntry = entry({ ...series, title: 'It' })
  const entries = [seriesEntry, entry({ path: '/tags' })]
  const xml = atomFeed(navigationFeed({ path: '/series', title: 'All', entries }), context)
  const tags = atomFeed(navigationFeed({ path: '/tags', title: 'Tags' }), context)
  t.same(find(xml, 'a:entry/a:id'), [`urn:uuid:${id}`, find(tags, 'a:id')[0]])
})

t.test('a feed has the timestamp of its newest entry, else of the catalog', async t => {
  const updated = (xml: string) => find(xml, 'a:updated')[0]
  const books = [book({ updatedAt: at(3) }), book({ updatedAt: at(9) }), book({ updatedAt: at(5) })]
  const feed = acquisitionFeed({ path: '/on-deck', title: 'Next', books, updatedAt: at(20) })
  const xml = atomFeed(feed, context)
  t.equal(updated(xml), '2026-05-09T10:20:30Z')
  t.ok(find(xml, 'a:entry/a:updated').includes(updated(xml)!))
  t.equal(updated(atomFeed({ ...feed, books: [] }, context)), '2026-05-20T10:20:30Z')
  t.equal(
    updated(atomFeed({ ...feed, books: [], updatedAt: null }, context)),
    '2026-05-01T10:20:30Z',
  )

  const entries = [entry({ updatedAt: null }), entry({ updatedAt: new Date(0) })]
  const navigation = atomFeed(navigationFeed({ path: '', title: 'Root', entries }), context)
  t.equal(updated(navigation), '2026-05-01T10:20:30Z')
  t.same(find(navigation, 'a:entry/a:updated'), ['2026-05-01T10:20:30Z', '1970-01-01T00:00:00Z'])
})

t.test('navigation entries link to one feed each and are not taken for books', async t => {
  const entries = [
    entry({ path: '/books/recent', title: 'New', rel: 'http://opds-spec.org/sort/new' }),
    entry({
      path: '/series',
      query: { tag: 'a b&c' },
      title: 'Tagged',
      kind: 'navigation',
      count: 12,
    }),
    entry({ path: '/series/1', title: 'Covered', cover: '/series/1', count: 0 }),
  ]
  const xml = atomFeed(navigationFeed({ path: '', title: 'Root', up: null, entries }), context)
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
  const described = [entry({ title: 'It & he', description: '3 books by <Ann>.' })]
  const withContent = atomFeed(
    navigationFeed({ path: '/x', title: 'X', entries: described }),
    context,
  )
  t.same(relaxErrors(withContent), [])
  t.same(find(withContent, 'a:entry/a:content'), ['3 books by <Ann>.'])
  t.equal(
    thoriumFeed(withContent).Navigation![0]!.Title,
    'It & he',
    'it does not replace the title',
  )
})

t.test(
  'every feed links to root, parent and search; only the root to the other catalog',
  async t => {
    const up = { path: '/series', title: 'All series', kind: 'navigation' } as const
    const relatedRef = {
      path: '/series',
      query: { search: 'x' },
      title: 'Series',
      kind: 'navigation',
    } as const
    const xml = atomFeed(
      acquisitionFeed({ path: '/series/1', title: 'It', up, related: [relatedRef] }),
      context,
    )
    t.same(hrefs(xml, 'self'), [`${root}/series/1`])
    t.same(hrefs(xml, 'start'), [`${root}/catalog`])
    t.same(hrefs(xml, 'up'), [`${root}/series`])
    t.same(hrefs(xml, 'search'), [`${root}/search.xml`, `${root}/search?q={searchTerms}`])
    t.same(find(xml, "a:link[@rel='search']/@type"), [
      'application/opensearchdescription+xml',
      'application/atom+xml',
    ])
    t.same(hrefs(xml, 'related'), [`${root}/series?search=x`])
    t.same(hrefs(xml, 'alternate'), [])
    t.same(find(xml, 'a:author/a:name'), ['Attic & <Sons>'])

    const home = atomFeed(navigationFeed({ path: '', title: 'Catalog', up: null }), context)
    t.same(hrefs(home, 'self'), [`${root}/catalog`])
    t.same(hrefs(home, 'up'), [])
    t.same(hrefs(home, 'alternate'), ['https://books.example/base/opds/v2'])
    t.same(find(home, "a:link[@rel='alternate']/@type"), ['application/opds+json'])
  },
)

t.test('pages link to their neighbors with filters and size, also past the end', async t => {
  const query = { q: 'a&b é', page: undefined }
  const feed = (page: number, pageSize = 50, total = 120) =>
    atomFeed(
      acquisitionFeed({
        path: '/search',
        title: 'Found',
        query,
        paging: { page, pageSize, total },
      }),
      context,
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

  const unpaged = atomFeed(acquisitionFeed({ path: '/search', title: 'Found' }), context)
  t.same([...hrefs(unpaged, 'first'), ...find(unpaged, 'os:*')], [])
})

t.test('facets have groups and counts, and only the selected one is active', async t => {
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
  const xml = atomFeed(acquisitionFeed({ path: '/series/1', title: 'It', facets }), context)
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
  const navigation = atomFeed(navigationFeed({ path: '/series', title: 'All', facets }), context)
  t.same(find(navigation, facet), [], 'only acquisition feeds have facets')
})

t.test('KOReader can read the title of every facet', async t => {
  const titles = [
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
    {
      title: 'Tag',
      facets: titles.map(title => ({ title, query: {}, count: 1, isActive: false })),
    },
  ]
  const xml = atomFeed(acquisitionFeed({ path: '/series/1', title: 'It', facets }), context)
  t.same(find(xml, "a:link[@rel='http://opds-spec.org/facet']/@title"), [
    ...['Tag: 科幻', 'Tag: Приключения', 'Tag: !!!', 'Tag: äther', 'Tag: & co', 'Untitled'],
    ...['.hack', '2000 AD', 'Tag: Żart'],
  ])
})

t.test('the name in the search description is truncated', async t => {
  const xml = searchDescription(context.links, `\u0000A & 👨‍👩‍👧‍👦 library of many words`)
  const [short] = find(xml, 'os:ShortName')
  t.equal(short, 'A & 👨‍👩‍👧‍👦')
  t.same(find(xml, 'os:Url/@template'), [
    `${root}/search?q={searchTerms}`,
    `${root}/series?search={searchTerms}`,
  ])
  t.same(find(xml, 'os:Url/@type'), [
    'application/atom+xml;profile=opds-catalog;kind=acquisition',
    'application/atom+xml;profile=opds-catalog;kind=navigation',
  ])
  t.same(find(searchDescription(context.links, '\u0001'), 'os:ShortName'), ['Untitled'])
})
