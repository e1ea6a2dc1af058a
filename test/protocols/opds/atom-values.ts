// Fixtures for Atom tests: feeds and books, ordinary and hostile, and XPath helpers.
import fc from 'fast-check'
import { XmlDocument } from 'libxml2-wasm'
import type { FeedContext, NavigationEntry } from '../../../lib/protocols/opds/feed.ts'
import { parseCatalogPath } from '../../../lib/protocols/publication/catalog-path.ts'
import { createLinks } from '../../../lib/protocols/publication/links.ts'
import type { Publication } from '../../../lib/protocols/publication/publication.ts'

export const at = (day: number) => new Date(Date.UTC(2026, 4, day, 10, 20, 30, 999))

/** The context of a client that uses `path` of the server at `base`. */
export function contextAt(
  base = 'https://books.example/base',
  path = '/opds/v1/catalog',
): FeedContext {
  return {
    links: createLinks(base, parseCatalogPath(path)!),
    serverName: 'Attic & <Sons>',
    allows: { pageStreaming: true, progressSync: true },
    catalogUpdatedAt: at(1),
  }
}

export const context = contextAt()
/** The root of its links. */
export const root = 'https://books.example/base/opds/v1'

let idCount = 0
const newId = () => `01890000-0000-7000-8000-${String((idCount += 1)).padStart(12, '0')}`

export function book(overrides: Partial<Publication> = {}): Publication {
  return {
    id: newId(),
    title: 'The Title',
    subtitle: null,
    number: '3',
    seriesPosition: 3,
    series: { id: newId(), title: 'Series' },
    libraryId: newId(),
    summary: 'What it is about.',
    authors: [{ name: 'Ana Author', role: 'writer', sortName: null }],
    publisher: 'House',
    imprint: null,
    language: 'en',
    releaseDate: '2020-01-31',
    isbn: '9780306406157',
    genres: ['Action'],
    tags: ['robots'],
    readingDirection: 'ltr',
    format: 'cbz',
    unreadableReason: null,
    fileName: 'The Title.cbz',
    fileSize: 12_897_485,
    pageCount: 35,
    streamMediaType: 'image/jpeg',
    updatedAt: at(2),
    createdAt: at(1),
    progress: null,
    ...overrides,
  }
}

export const entry = (overrides: Partial<NavigationEntry> = {}): NavigationEntry => ({
  path: `/series/${newId()}`,
  title: 'A series',
  kind: 'acquisition',
  updatedAt: at(3),
  ...overrides,
})

export const hostileTitles = [
  `& < > " ' ]]> <script>alert(1)</script>`,
  'Rock &amp; Roll &#65;',
  'مانغا العربية ‮ עברית',
  '🦸🏽‍♀️ 👨‍👩‍👧‍👦 𝔘𝔫𝔦𝔠𝔬𝔡𝔢',
  'café – naïve', // decomposed
  'x'.repeat(300),
  '100% #1? a;b/c\\d',
  'trailing space and dot .',
]

/** Text as it may occur in files, and worse. */
export const anyText = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 30 }),
  fc.string({ unit: 'binary', maxLength: 30 }),
  fc.constantFrom(...hostileTitles, '', ' ', '\u0001\u0002', '\ud800', 'a\r\nb\tc'),
)

export const anyBook: fc.Arbitrary<Publication> = fc
  .record({
    title: anyText,
    number: fc.option(anyText),
    series: fc.record({ id: fc.uuid(), title: anyText }),
    summary: fc.option(anyText),
    authors: fc.array(
      fc.record({
        name: anyText,
        role: fc.option(fc.constantFrom('writer', 'inker', 'penciller', 'odd')),
        sortName: fc.option(anyText),
      }),
      { maxLength: 4 },
    ),
    publisher: fc.option(anyText),
    language: fc.option(fc.constantFrom('en', 'de-AT', '')),
    releaseDate: fc.option(fc.constantFrom('0001', '2020-02', '2020-02-29')),
    isbn: fc.option(fc.constantFrom('9780306406157', 'no number', '')),
    genres: fc.array(anyText, { maxLength: 3 }),
    tags: fc.array(anyText, { maxLength: 3 }),
    format: fc.option(fc.constantFrom('cbz', 'cbr', 'cb7', 'cbt', 'epub', 'pdf')),
    unreadableReason: fc.option(anyText),
    fileName: anyText,
    fileSize: fc.nat({ max: 2 ** 45 }),
    pageCount: fc.nat(3000),
    streamMediaType: fc.option(fc.constantFrom('image/jpeg', 'image/png')),
    updatedAt: fc.date({ min: at(1), max: at(28), noInvalidDate: true }),
    progress: fc.option(
      fc.record({
        page: fc.nat(4000),
        percentage: fc.option(fc.double({ min: 0, max: 100, noNaN: true })),
        isCompleted: fc.boolean(),
        updatedAt: fc.date({ min: at(1), max: at(28), noInvalidDate: true }),
      }),
    ),
  })
  .map(overrides => book(overrides as Partial<Publication>))

const namespaces = {
  a: 'http://www.w3.org/2005/Atom',
  dc: 'http://purl.org/dc/terms/',
  opds: 'http://opds-spec.org/2010/catalog',
  os: 'http://a9.com/-/spec/opensearch/1.1/',
  pse: 'http://vaemendis.net/opds-pse/ns',
  thr: 'http://purl.org/syndication/thread/1.0',
}

/** Text of the nodes that an XPath selects. */
export function find(xml: string, path: string): string[] {
  const document = XmlDocument.fromString(xml)
  try {
    return document.root.find(path, namespaces).map(node => node.content)
  } finally {
    document.dispose()
  }
}

/** Lines of a description in HTML; Foliate decodes some references twice. */
export function linesOf(html: string, { isFoliate = false } = {}): string[] {
  const references = { '&lt;': '<', '&gt;': '>', '&amp;': '&' }
  const decoded = isFoliate
    ? html.replace(/&(?:lt|gt|amp);/g, match => references[match as keyof typeof references])
    : html
  return decoded.split('<br/>').map(line => find(`<p>${line}</p>`, '.')[0]!)
}

export const hrefs = (xml: string, rel: string) => find(xml, `a:link[@rel='${rel}']/@href`)
