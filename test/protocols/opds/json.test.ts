import { deepEqual as same } from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import {
  type AcquisitionFeed,
  acquisitionFeed,
  type FeedContext,
  navigationFeed,
} from '../../../lib/protocols/opds/feed.ts'
import { jsonFeed } from '../../../lib/protocols/opds/json/feed.ts'
import { divinaManifest } from '../../../lib/protocols/opds/json/manifest.ts'
import { jsonPublication } from '../../../lib/protocols/opds/json/publication.ts'
import { createLinks } from '../../../lib/protocols/publication/links.ts'
import type { Publication } from '../../../lib/protocols/publication/publication.ts'
import { emptyValues } from '../../kit/opds/empty-values.ts'
import { anyBook, anyFeed } from '../../kit/opds/feeds.ts'
import { schemaErrors } from '../../kit/opds/schemas.ts'
import { parsedFeed, parsedPublication } from '../../kit/opds/thorium-json.ts'

const base = 'http://books.example/prefix'
const context: FeedContext = {
  links: createLinks(base, { version: 2, prefix: '/opds/v2', apiKey: null }),
  serverName: 'Library',
  allows: { pageStreaming: true, progressSync: true },
  catalogUpdatedAt: new Date('2020-01-01T00:00:00Z'),
}
const at = `${base}/opds/v2`
const plainBook: Publication = {
  id: '0199a000-0000-7000-8000-000000000001',
  title: 'Night & day',
  subtitle: null,
  number: '1.5',
  seriesPosition: 1.5,
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
  releaseDate: '2020-02',
  isbn: '9783161484100',
  genres: ['Action'],
  tags: ['Action', 'robots'],
  readingDirection: 'rtl',
  format: 'cbz',
  unreadableReason: null,
  fileName: 'Night & day #1?.cbz',
  fileSize: 1234,
  pageCount: 3,
  streamMediaType: 'image/jpeg',
  updatedAt: new Date('2024-05-06T07:08:09.987Z'),
  createdAt: new Date('2024-01-01T00:00:00Z'),
  progress: null,
}
const book = (more: Partial<Publication> = {}) => ({ ...plainBook, ...more })
const linkOf = (json: any, rel: string) => json.links.find((link: any) => link.rel === rel)
const write = (value: Publication, ctx = context): any => jsonPublication(value, ctx)

t.test('feeds contain no empty values and match the JSON Schema', async () => {
  fc.assert(
    fc.property(anyFeed, feed => {
      const json = JSON.parse(JSON.stringify(jsonFeed(feed, context)))
      same([...emptyValues(json), ...schemaErrors('feed', json)], [])
      const written = feed.kind === 'acquisition' ? json.publications : json.navigation
      const items = feed.kind === 'acquisition' ? feed.books : feed.entries
      if (items.length > 0) same(written.length, items.length)
    }),
    { numRuns: 150 },
  )
})

t.test('manifests contain no empty values and match the JSON Schema', async () => {
  const type = fc.constantFrom('image/jpeg', 'image/webp', 'image/svg+xml')
  const size = fc.option(fc.nat(5000))
  const page = fc.record({ mediaType: type, width: size, height: size })
  fc.assert(
    fc.property(anyBook, fc.array(page, { minLength: 1, maxLength: 5 }), (book, pages) => {
      const stored = pages.map(page => ({
        ...page,
        name: '',
        bytes: 0,
        isDouble: false,
        type: null,
        location: null,
      }))
      const json = JSON.parse([...divinaManifest(book, stored, context)].join(''))
      same([...emptyValues(json), ...schemaErrors('manifest', json)], [])
      same(json.readingOrder.length, pages.length)
    }),
    { numRuns: 100 },
  )
})

t.test('a page of a feed links to its neighbors, root and search', async t => {
  const paging = { page: 2, pageSize: 20, total: 41 }
  const query = { tag: 'a&b c' }
  const feed = acquisitionFeed({ path: '/series/x', query, title: 'X', books: [book()], paging })
  const json: any = jsonFeed(feed, context)
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
  t.equal(json.metadata.modified, '2024-05-06T07:08:09Z', 'the timestamp of the newest book')
})

t.test('the first page has no previous, the last no next link', async t => {
  const feedPage = (page: number): any => {
    const paging = { page, pageSize: 50, total: 51 }
    return jsonFeed(acquisitionFeed({ path: '/x', title: 'X', books: [book()], paging }), context)
  }
  t.equal(linkOf(feedPage(1), 'previous'), undefined)
  t.equal(linkOf(feedPage(1), 'next').href, `${at}/x?page=2`)
  t.equal(linkOf(feedPage(2), 'next'), undefined)
  t.equal(linkOf(feedPage(2), 'previous').href, `${at}/x`)
})

t.test('a feed without books links to the root and has no items', async t => {
  const json: any = jsonFeed(acquisitionFeed({ path: '/search', title: 'Search' }), context)
  t.equal(json.metadata.numberOfItems, 0)
  t.equal(json.metadata.modified, '2020-01-01T00:00:00Z')
  t.match(json.navigation, [{ title: 'Back to the catalog', href: at }])
  t.notOk('publications' in json)
})

t.test('Thorium finds navigation, groups and facets with their counts', async t => {
  const entry = { path: '/series', title: 'Series', kind: 'navigation' as const, updatedAt: null }
  const onDeck = { path: '/on-deck', title: 'On deck', kind: 'acquisition' as const, total: 7 }
  const tags = { path: '/tags', title: 'Tags', kind: 'navigation' as const, total: 3 }
  const home = navigationFeed({
    path: '',
    title: 'Home',
    up: null,
    entries: [
      { ...entry, count: 12 },
      { ...entry, path: '/new', title: 'New', rel: 'http://opds-spec.org/sort/new' },
    ],
    groups: [
      { ...onDeck, books: [book()] },
      { ...tags, entries: [{ ...entry, query: { tag: 'é' }, title: 'é' }] },
    ],
  })
  const parsed = parsedFeed(JSON.parse(JSON.stringify(jsonFeed(home, context))))
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
  const series: AcquisitionFeed = acquisitionFeed({
    path: '/s',
    title: 'S',
    books: [book()],
    facets,
    isMixed: false,
  })
  const parsedSeries = parsedFeed(JSON.parse(JSON.stringify(jsonFeed(series, context))))
  t.same(
    parsedSeries.Facets!.map(group => [
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
  t.equal(parsedSeries.Publications![0]!.Metadata.Title, '1.5 - Night & day')
})

t.test('Thorium finds the metadata and links of a book', async t => {
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

t.test('the description of an unreadable file starts with the reason', async t => {
  const unreadableReason = 'The archive is cut off'
  const metadataOf = (more: Partial<Publication>) =>
    write(book({ unreadableReason, ...more })).metadata
  t.equal(
    metadataOf({ summary: 'A tale.' }).description,
    `This file cannot be read: ${unreadableReason}\nA tale.`,
  )
  t.equal(
    metadataOf({ summary: null }).description,
    `This file cannot be read: ${unreadableReason}`,
  )
})

t.test('a blank title is replaced by Untitled', async t => {
  const json: any = jsonFeed(navigationFeed({ path: '/series', title: ' \u0001' }), context)
  t.equal(json.metadata.title, 'Untitled')
})

t.test('other roles and identifiers are preserved', async t => {
  const { metadata } = write(book())
  t.same(metadata.contributor, [{ name: 'Cove Artist', role: 'cover_artist' }])
  t.same(metadata.altIdentifier, ['urn:isbn:9783161484100'])
})

t.test('type, profile, layout and manifests follow from the format', async t => {
  const summary = (more: Partial<Publication>) => {
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
  t.same(summary({}), ['ComicIssue', 'divina', 'fixed', 'rtl', ['divina']])
  t.same(summary({ readingDirection: 'webtoon' }), [
    'ComicIssue',
    'divina',
    'scrolled',
    undefined,
    ['divina'],
  ])
  t.same(summary({ format: 'pdf', readingDirection: 'ltr' }), [
    'Book',
    'pdf',
    'fixed',
    'ltr',
    ['pdf', 'divina'],
  ])
  t.same(summary({ format: 'epub', readingDirection: null }), [
    'Book',
    'epub',
    'fixed',
    undefined,
    ['epub', 'divina'],
  ])
  const reflowable = { format: 'epub', streamMediaType: null, pageCount: 40 } as const
  t.same(summary(reflowable), ['Book', 'epub', 'reflowable', 'rtl', ['epub']])
  t.same(summary({ format: null, streamMediaType: null, pageCount: 0 }), [
    'Book',
    '',
    undefined,
    'rtl',
    [],
  ])
  t.same(
    summary({ streamMediaType: null, pageCount: 0 }).at(-1),
    [],
    'an unreadable file can only be downloaded',
  )
})

t.test('links without permission are left out', async t => {
  const rels = (pageStreaming: boolean, progressSync: boolean) =>
    write(book(), { ...context, allows: { pageStreaming, progressSync } }).links.map(
      (l: any) => l.rel,
    )
  const always = ['self', 'http://opds-spec.org/acquisition']
  t.same(rels(false, false), always)
  t.same(rels(true, false), [...always, 'alternate'])
})
