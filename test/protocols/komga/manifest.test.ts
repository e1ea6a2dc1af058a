// Readium manifests of the Komga-compatible API: each kind of book with all of its values, and without them.
import t from 'tap'
import type { EpubContents } from '../../../lib/media/format/epub/contents.ts'
import { divinaManifest, epubManifest, pdfManifest } from '../../../lib/protocols/komga/manifest.ts'
import { createLinks } from '../../../lib/protocols/publication/links.ts'
import type { Publication } from '../../../lib/protocols/publication/publication.ts'

const links = createLinks('http://books.example', { version: 2, prefix: '/komga', apiKey: null })
const at = 'http://books.example/komga'
const full: Publication = {
  id: 'b',
  title: 'Night & day',
  subtitle: 'A tale',
  number: '1.5',
  seriesPosition: 1.5,
  series: { id: 's', title: 'Days' },
  libraryId: 'l',
  summary: 'One.',
  authors: [
    { name: 'Ann Writer', role: 'writer', sortName: null },
    { name: 'Cove Artist', role: 'cover_artist', sortName: null },
    { name: 'Nar Rator', role: 'narrator', sortName: null },
    { name: 'No Role', role: null, sortName: null },
  ],
  publisher: 'House',
  imprint: null,
  language: 'fr-be',
  releaseDate: '2020-02',
  isbn: '9783161484100',
  genres: ['Action'],
  tags: ['robots'],
  readingDirection: 'webtoon',
  format: 'cbz',
  unreadableReason: null,
  fileName: 'Night.cbz',
  fileSize: 1234,
  pageCount: 2,
  streamMediaType: 'image/jpeg',
  updatedAt: new Date('2024-05-06T07:08:09.987Z'),
  createdAt: new Date('2024-01-01T00:00:00Z'),
  progress: null,
}
const bare: Publication = {
  ...full,
  ...{ subtitle: null, seriesPosition: null, summary: '', authors: [], publisher: null },
  ...{ language: null, releaseDate: null, isbn: null, tags: [], readingDirection: null },
  ...{ format: null, pageCount: 0 },
}
const people = {
  ...{ author: [], penciler: [], inker: [], colorist: [], letterer: [], editor: [] },
  ...{ translator: [], artist: [], illustrator: [], contributor: [] },
}
const seriesLink = { href: `${at}/series/s`, type: 'application/json', properties: {} }
const page = { name: '', bytes: 0, isDouble: false, type: null, location: null }
const profile = (name: string) => `https://readium.org/webpub-manifest/profiles/${name}`

t.test('a comic with all values', t => {
  const manifest = divinaManifest(
    full,
    [
      { ...page, mediaType: 'image/jpeg', width: 20, height: 30 },
      { ...page, mediaType: 'image/webp', width: null, height: null },
    ],
    links,
  )
  const second = `${at}/books/b/pages/2`
  t.same(manifest, {
    context: 'https://readium.org/webpub-manifest/context.jsonld',
    '@context': 'https://readium.org/webpub-manifest/context.jsonld',
    metadata: {
      title: 'Night & day',
      identifier: 'urn:isbn:9783161484100',
      type: 'http://schema.org/Book',
      subtitle: 'A tale',
      modified: '2024-05-06T07:08:09Z',
      published: '2020-02-01',
      language: 'fr-BE',
      description: 'One.',
      numberOfPages: 2,
      readingProgression: 'ttb',
      ...people,
      author: ['Ann Writer', 'No Role'],
      contributor: ['Cove Artist', 'Nar Rator'],
      publisher: ['House'],
      subject: ['robots'],
      belongsTo: {
        series: [{ name: 'Days', position: 1.5, links: [seriesLink] }],
        collection: [],
      },
      conformsTo: profile('divina'),
      rendition: {},
    },
    links: [
      {
        rel: 'self',
        href: `${at}/books/b/manifest`,
        type: 'application/divina+json',
        properties: {},
      },
      {
        rel: 'http://opds-spec.org/acquisition',
        href: `${at}/books/b/file`,
        type: 'application/zip',
        properties: {},
      },
    ],
    images: [{ href: `${at}/books/b/thumbnail`, type: 'image/jpeg', properties: {} }],
    readingOrder: [
      {
        href: `${at}/books/b/pages/1`,
        ...{ type: 'image/jpeg', properties: {}, width: 20, height: 30 },
      },
      {
        ...{ href: second, type: 'image/webp', properties: {} },
        alternate: [{ href: `${second}?convert=jpeg`, type: 'image/jpeg', properties: {} }],
      },
    ],
    ...{ resources: [], toc: [], landmarks: [], pageList: [] },
  })
  t.end()
})

t.test('values that a book lacks are absent, and lists are empty', t => {
  const manifest: any = pdfManifest(bare, links)
  t.same(manifest.metadata, {
    title: 'Night & day',
    identifier: 'urn:uuid:b',
    type: 'http://schema.org/Book',
    modified: '2024-05-06T07:08:09Z',
    readingProgression: 'ltr',
    ...people,
    ...{ publisher: [], subject: [] },
    belongsTo: { series: [{ name: 'Days', links: [seriesLink] }], collection: [] },
    conformsTo: profile('pdf'),
    rendition: {},
  })
  t.match(manifest.links, [{ type: 'application/webpub+json' }, { type: '' }])
  t.same(manifest.readingOrder, [])
  const { readingOrder }: any = pdfManifest({ ...bare, pageCount: 2 }, links)
  t.same(
    readingOrder,
    [1, 2].map(n => ({
      href: `${at}/books/b/pages/${n}/raw`,
      ...{ type: 'image/jpeg', properties: {} },
    })),
  )
  t.end()
})

t.test('an EPUB lists its resources and its tables of contents', t => {
  const resource = (name: string, mediaType: string) => ({ name, mediaType }) as never
  const entry = (title: string, fragment = '', children: never[] = []) =>
    ({ title, resource: 0, fragment, children }) as never
  const contents = {
    isFixedLayout: true,
    direction: null,
    resources: [
      resource('a.xhtml', 'application/xhtml+xml'),
      resource('s.css', 'text/css'),
      resource('b.xhtml', 'application/xhtml+xml'),
    ],
    ...{ readingOrder: [2, 0], renditions: [], spine: [2, 0] },
    toc: [entry('Part', '', [entry('Chapter', 'c 1')])],
    landmarks: [entry('Start')],
    pageList: [entry('1')],
  } satisfies Partial<EpubContents> as EpubContents
  const href = (name: string) => `${at}/books/b/resource/${name}`
  const link = (name: string, type: string) => ({ href: href(name), type, properties: {} })
  const item = (title: string, rest = '') => ({
    ...{ title, href: `${href('a.xhtml')}${rest}`, properties: {} },
  })
  const manifest: any = epubManifest({ ...full, format: 'epub' }, contents, links)
  t.same(manifest.metadata.rendition, { layout: 'fixed' })
  t.equal(manifest.metadata.conformsTo, profile('epub'))
  t.same(manifest.links[2], {
    rel: 'http://www.cantook.com/api/progression',
    properties: {},
    href: `${at}/books/b/progression`,
    type: 'application/vnd.readium.progression+json',
  })
  t.same(manifest.readingOrder, [
    link('b.xhtml', 'application/xhtml+xml'),
    link('a.xhtml', 'application/xhtml+xml'),
  ])
  t.same(manifest.resources, [link('s.css', 'text/css')])
  t.same(manifest.toc, [{ ...item('Part'), children: [item('Chapter', '#c%201')] }])
  t.same(manifest.landmarks, [item('Start')])
  t.same(manifest.pageList, [item('1')])
  const reflowable: any = epubManifest(full, { ...contents, isFixedLayout: false }, links)
  t.same(reflowable.metadata.rendition, { layout: 'reflowable' })
  t.end()
})
