import { deepEqual as same } from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import { type AcquisitionFeed, acquisition, navigation } from '../../lib/opds/feed.ts'
import { jsonFeed } from '../../lib/opds/json/feed.ts'
import { divinaManifest } from '../../lib/opds/json/manifest.ts'
import { jsonPublication } from '../../lib/opds/json/publication.ts'
import { linksFrom } from '../../lib/opds/links.ts'
import type { Publication } from '../../lib/opds/publication.ts'
import type { Writing } from '../../lib/opds/writing.ts'
import { blanks } from '../kit/opds/empty-values.ts'
import { anyBook, anyFeed } from '../kit/opds/feeds.ts'
import { schemaErrors } from '../kit/opds/schemas.ts'
import { parsedFeed, parsedPublication } from '../kit/opds/thorium-json.ts'

const base = 'http://books.example/shelf'
const writing: Writing = {
  links: linksFrom(base, { version: 2, at: '/opds/v2', key: null }),
  server: 'Library',
  may: { stream: true, sync: true },
  changed: new Date('2020-01-01T00:00:00Z'),
}
const at = `${base}/opds/v2`
const plainBook: Publication = {
  id: '0199a000-0000-7000-8000-000000000001',
  title: 'Night & day',
  subtitle: null,
  number: '1.5',
  position: 1.5,
  series: { id: '0199a000-0000-7000-8000-00000000000a', title: 'Days' },
  libraryId: '0199a000-0000-7000-8000-00000000000b',
  summary: 'One.\nTwo.',
  authors: [
    { name: 'Ann Writer', role: 'writer', sortName: 'Writer, Ann' },
    { name: 'Pen Ciller', role: 'penciller', sortName: null },
    { name: 'Cove Artist', role: 'cover_artist', sortName: null },
    { name: 'No Role', role: null, sortName: null },
  ],
  publisher: 'House',
  imprint: null,
  language: 'fr-BE',
  released: '2020-02',
  isbn: '9783161484100',
  genres: ['Action'],
  tags: ['Action', 'robots'],
  direction: 'rtl',
  format: 'cbz',
  unreadable: null,
  fileName: 'Night & day #1?.cbz',
  fileSize: 1234,
  pageCount: 3,
  streamedAs: 'image/jpeg',
  updated: new Date('2024-05-06T07:08:09.987Z'),
  created: new Date('2024-01-01T00:00:00Z'),
  place: null,
}
const book = (more: Partial<Publication> = {}) => ({ ...plainBook, ...more })
const linkOf = (json: any, rel: string) => json.links.find((link: any) => link.rel === rel)
const write = (value: Publication, w = writing): any => jsonPublication(value, w)

t.test('no feed holds anything empty, and every feed keeps to the schema', async () => {
  fc.assert(
    fc.property(anyFeed, feed => {
      const json = JSON.parse(JSON.stringify(jsonFeed(feed, writing)))
      same([...blanks(json), ...schemaErrors('feed', json)], [])
      const shown = feed.kind === 'acquisition' ? json.publications : json.navigation
      const items = feed.kind === 'acquisition' ? feed.books : feed.entries
      if (items.length > 0) same(shown.length, items.length)
    }),
    { numRuns: 150 },
  )
})

t.test('no manifest holds anything empty, and every manifest keeps to the schema', async () => {
  const type = fc.constantFrom('image/jpeg', 'image/webp', 'image/svg+xml')
  const size = fc.option(fc.nat(5000))
  const page = fc.record({ mediaType: type, width: size, height: size })
  fc.assert(
    fc.property(anyBook, fc.array(page, { minLength: 1, maxLength: 5 }), (book, pages) => {
      const whole = pages.map(p => ({ ...p, name: '', bytes: 0, isDouble: false, type: null }))
      const json = JSON.parse([...divinaManifest(book, whole, writing)].join(''))
      same([...blanks(json), ...schemaErrors('manifest', json)], [])
      same(json.readingOrder.length, pages.length)
    }),
    { numRuns: 100 },
  )
})

t.test('a page of a feed leads to its neighbours, its start and its search', async t => {
  const paging = { page: 2, pageSize: 20, total: 41 }
  const query = { tag: 'a&b c' }
  const feed = acquisition({ path: '/series/x', query, title: 'X', books: [book()], paging })
  const json: any = jsonFeed(feed, writing)
  const { numberOfItems, itemsPerPage, currentPage } = json.metadata
  t.same(
    { numberOfItems, itemsPerPage, currentPage },
    { numberOfItems: 41, itemsPerPage: 20, currentPage: 2 },
  )
  const page = (n: string) => `${at}/series/x?tag=a%26b%20c${n}&pageSize=20`
  t.equal(linkOf(json, 'self').href, page('&page=2'))
  t.equal(linkOf(json, 'first').href, page(''))
  t.equal(linkOf(json, 'previous').href, page(''))
  t.equal(linkOf(json, 'next').href, page('&page=3'))
  t.equal(linkOf(json, 'last').href, page('&page=3'))
  t.equal(linkOf(json, 'start').href, at)
  t.equal(linkOf(json, 'up').href, at)
  t.match(linkOf(json, 'search'), { href: `${at}/search{?query}`, templated: true })
  t.equal(json.metadata.modified, '2024-05-06T07:08:09Z', 'of its newest book')
})

t.test('the first page has none before it, the last none after it', async t => {
  const of = (page: number): any => {
    const paging = { page, pageSize: 50, total: 51 }
    return jsonFeed(acquisition({ path: '/x', title: 'X', books: [book()], paging }), writing)
  }
  t.equal(linkOf(of(1), 'previous'), undefined)
  t.equal(linkOf(of(1), 'next').href, `${at}/x?page=2`)
  t.equal(linkOf(of(2), 'next'), undefined)
  t.equal(linkOf(of(2), 'previous').href, `${at}/x`)
})

t.test('a feed without books leads back and counts none', async t => {
  const json: any = jsonFeed(acquisition({ path: '/search', title: 'Search' }), writing)
  t.equal(json.metadata.numberOfItems, 0)
  t.equal(json.metadata.modified, '2020-01-01T00:00:00Z')
  t.match(json.navigation, [{ title: 'Back to the catalogue', href: at }])
  t.notOk('publications' in json)
})

t.test('Thorium finds navigation, groups and facets with their counts', async t => {
  const entry = { path: '/series', title: 'Series', kind: 'navigation' as const, updated: null }
  const shelf = { path: '/on-deck', title: 'On deck', kind: 'acquisition' as const, total: 7 }
  const rows = { path: '/tags', title: 'Tags', kind: 'navigation' as const, total: 3 }
  const home = navigation({
    path: '',
    title: 'Home',
    up: null,
    entries: [
      { ...entry, count: 12 },
      { ...entry, path: '/new', title: 'New', rel: 'http://opds-spec.org/sort/new' },
    ],
    groups: [
      { ...shelf, books: [book()] },
      { ...rows, entries: [{ ...entry, query: { tag: 'é' }, title: 'é' }] },
    ],
  })
  const parsed = parsedFeed(JSON.parse(JSON.stringify(jsonFeed(home, writing))))
  t.same(
    parsed.Navigation!.map(link => [
      link.Title,
      link.Href,
      link.Rel,
      link.Properties?.NumberOfItems,
    ]),
    [
      ['Series', `${at}/series`, ['subsection'], 12],
      ['New', `${at}/new`, ['http://opds-spec.org/sort/new'], undefined],
    ],
  )
  t.same(
    parsed.Groups!.map(({ Metadata, Links }) => [
      Metadata.Title,
      Metadata.NumberOfItems,
      Links[0]!.Href,
    ]),
    [
      ['On deck', 7, `${at}/on-deck`],
      ['Tags', 3, `${at}/tags`],
    ],
  )
  t.equal(parsed.Groups![0]!.Publications![0]!.Metadata.Title, 'Days 1.5 - Night & day')
  t.equal(parsed.Groups![1]!.Navigation![0]!.Href, `${at}/series?tag=%C3%A9`)

  const facet = (title: string, read: string | undefined, count: number, isActive: boolean) => ({
    title,
    query: { read },
    count,
    isActive,
  })
  const facets = [
    {
      title: 'Status',
      facets: [facet('All', undefined, 9, false), facet('Read', 'read', 4, true)],
    },
  ]
  const series: AcquisitionFeed = acquisition({
    path: '/s',
    title: 'S',
    books: [book()],
    facets,
    isMixed: false,
  })
  const found = parsedFeed(JSON.parse(JSON.stringify(jsonFeed(series, writing))))
  t.same(
    found.Facets!.map(group => [
      group.Metadata.Title,
      group.Links.map(link => [
        link.Title,
        link.Href,
        link.Rel ?? null,
        link.Properties!.NumberOfItems,
      ]),
    ]),
    [
      [
        'Status',
        [
          ['All', `${at}/s`, null, 9],
          ['Read', `${at}/s?read=read`, ['self'], 4],
        ],
      ],
    ],
  )
  t.equal(found.Publications![0]!.Metadata.Title, '1.5 - Night & day')
})

t.test('Thorium finds what is said of a book and where it is', async t => {
  const { Metadata, Links, Images } = parsedPublication(JSON.parse(JSON.stringify(write(book()))))
  t.equal(Metadata.Title, 'Days 1.5 - Night & day')
  t.equal(Metadata.Identifier, `urn:uuid:${plainBook.id}`)
  t.same(
    Metadata.Author!.map(a => [a.Name, a.SortAs]),
    [
      ['Ann Writer', 'Writer, Ann'],
      ['No Role', undefined],
    ],
  )
  t.same(
    Metadata.Penciler!.map(a => a.Name),
    ['Pen Ciller'],
  )
  t.same(
    Metadata.Publisher!.map(a => a.Name),
    ['House'],
  )
  t.same(
    Metadata.Subject!.map(s => s.Name),
    ['Action', 'robots'],
  )
  t.same(Metadata.Language, ['fr-BE'])
  t.equal(Metadata.Direction, 'rtl')
  t.equal(Metadata.NumberOfPages, 3)
  t.equal(Metadata.Description, 'One.\nTwo.')
  t.equal(Metadata.PublicationDate!.toISOString(), '2020-02-01T00:00:00.000Z')
  const [series] = Metadata.BelongsTo!.Series!
  t.same(
    [series!.Name, series!.Position, series!.Links![0]!.Href],
    ['Days', 1.5, `${at}/series/${plainBook.series.id}`],
  )
  const own = `${at}/books/${plainBook.id}`
  t.same(
    Links.map(link => [link.Rel![0], link.TypeLink, link.Href]),
    [
      ['self', 'application/opds-publication+json', own],
      [
        'http://opds-spec.org/acquisition',
        'application/vnd.comicbook+zip',
        `${own}/file/Night%20%26%20day%20%231%3F.cbz`,
      ],
      ['alternate', 'application/divina+json', `${own}/manifest/divina`],
      [
        'http://www.cantook.com/api/progression',
        'application/vnd.readium.progression+json',
        `${own}/progression`,
      ],
    ],
  )
  for (const link of Links)
    t.same(link.Properties!.AdditionalJSON!.authenticate, {
      href: `${at}/auth`,
      type: 'application/opds-authentication+json',
    })
  t.same(
    Images.map(link => [link.Href, link.TypeLink, link.Rel![0]]),
    [
      [`${own}/thumbnail.jpg`, 'image/jpeg', 'http://opds-spec.org/image/thumbnail'],
      [`${own}/cover.jpg`, 'image/jpeg', 'http://opds-spec.org/image'],
    ],
  )
})

t.test('why a file cannot be read is the first that is told of it', async t => {
  const unreadable = 'The archive is cut off'
  const told = (more: Partial<Publication>) => write(book({ unreadable, ...more })).metadata
  t.equal(
    told({ summary: 'A tale.' }).description,
    `This file cannot be read: ${unreadable}\nA tale.`,
  )
  t.equal(told({ summary: null }).description, `This file cannot be read: ${unreadable}`)
})

t.test('what has no title is called so', async t => {
  const json: any = jsonFeed(navigation({ path: '/series', title: ' \u0001' }), writing)
  t.equal(json.metadata.title, 'Untitled')
})

t.test('roles and identifiers without a place of their own are not lost', async t => {
  const { metadata } = write(book())
  t.same(metadata.contributor, [{ name: 'Cove Artist', role: 'cover_artist' }])
  t.same(metadata.altIdentifier, ['urn:isbn:9783161484100'])
})

t.test('a book is read as what it is', async t => {
  const of = (more: Partial<Publication>) => {
    const { metadata, links } = write(book(more))
    const alternates = links
      .filter((l: any) => l.rel === 'alternate')
      .map((l: any) => l.href.split('/').at(-1))
    const { conformsTo = '', layout, readingProgression } = metadata
    return [
      metadata['@type'].split('/').at(-1),
      conformsTo.split('/').at(-1),
      layout,
      readingProgression,
      alternates,
    ]
  }
  t.same(of({}), ['ComicIssue', 'divina', 'fixed', 'rtl', ['divina']])
  t.same(of({ direction: 'webtoon' }), ['ComicIssue', 'divina', 'scrolled', undefined, ['divina']])
  t.same(of({ format: 'pdf', direction: 'ltr' }), [
    'Book',
    'pdf',
    'fixed',
    'ltr',
    ['pdf', 'divina'],
  ])
  t.same(of({ format: 'epub', direction: null }), [
    'Book',
    'epub',
    'fixed',
    undefined,
    ['epub', 'divina'],
  ])
  const flowing = { format: 'epub', streamedAs: null, pageCount: 40 } as const
  t.same(of(flowing), ['Book', 'epub', 'reflowable', 'rtl', ['epub']])
  t.same(of({ format: null, streamedAs: null, pageCount: 0 }), ['Book', '', undefined, 'rtl', []])
  t.same(of({ streamedAs: null, pageCount: 0 }).at(-1), [], 'a broken file can only be fetched')
})

t.test('what the reader may not do is not offered', async t => {
  const rels = (may: Writing['may']) =>
    write(book(), { ...writing, may }).links.map((l: any) => l.rel)
  const some = ['self', 'http://opds-spec.org/acquisition']
  t.same(rels({ stream: false, sync: false }), some)
  t.same(rels({ stream: true, sync: false }), [...some, 'alternate'])
})
