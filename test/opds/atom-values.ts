// Feeds and books made by hand, plain and hostile, for the writers to write.
import fc from 'fast-check'
import { XmlDocument } from 'libxml2-wasm'
import type { Entry } from '../../lib/opds/feed.ts'
import { linksFrom } from '../../lib/opds/links.ts'
import type { Publication } from '../../lib/opds/publication.ts'
import { enteredTree } from '../../lib/opds/tree.ts'
import type { Writing } from '../../lib/opds/writing.ts'

export const at = (day: number) => new Date(Date.UTC(2026, 4, day, 10, 20, 30, 999))

/** Links of a client that came by `path` of the server at `base`. */
export function writingAt(base = 'https://books.example/base', path = '/opds/v1/catalog'): Writing {
  return {
    links: linksFrom(base, enteredTree(path)!),
    server: 'Attic & <Sons>',
    may: { stream: true, sync: true },
    changed: at(1),
  }
}

export const writing = writingAt()
/** The catalogue that it links to. */
export const root = 'https://books.example/base/opds/v1'

let made = 0
const newId = () => `01890000-0000-7000-8000-${String((made += 1)).padStart(12, '0')}`

export function book(said: Partial<Publication> = {}): Publication {
  return {
    id: newId(),
    title: 'The Title',
    subtitle: null,
    number: '3',
    position: 3,
    series: { id: newId(), title: 'Series' },
    libraryId: newId(),
    summary: 'What it is about.',
    authors: [{ name: 'Ana Author', role: 'writer', sortName: null }],
    publisher: 'House',
    imprint: null,
    language: 'en',
    released: '2020-01-31',
    isbn: '9780306406157',
    genres: ['Action'],
    tags: ['robots'],
    direction: 'ltr',
    format: 'cbz',
    unreadable: null,
    fileName: 'The Title.cbz',
    fileSize: 12_897_485,
    pageCount: 35,
    streamedAs: 'image/jpeg',
    updated: at(2),
    created: at(1),
    place: null,
    ...said,
  }
}

export const shelf = (said: Partial<Entry> = {}): Entry => ({
  path: `/series/${newId()}`,
  title: 'A series',
  kind: 'acquisition',
  updated: at(3),
  ...said,
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

/** Text as it may stand in a database and in files, and worse. */
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
    released: fc.option(fc.constantFrom('0001', '2020-02', '2020-02-29')),
    isbn: fc.option(fc.constantFrom('9780306406157', 'no number', '')),
    genres: fc.array(anyText, { maxLength: 3 }),
    tags: fc.array(anyText, { maxLength: 3 }),
    format: fc.option(fc.constantFrom('cbz', 'cbr', 'cb7', 'cbt', 'epub', 'pdf')),
    unreadable: fc.option(anyText),
    fileName: anyText,
    fileSize: fc.nat({ max: 2 ** 45 }),
    pageCount: fc.nat(3000),
    streamedAs: fc.option(fc.constantFrom('image/jpeg', 'image/png')),
    updated: fc.date({ min: at(1), max: at(28), noInvalidDate: true }),
    place: fc.option(
      fc.record({
        page: fc.nat(4000),
        percentage: fc.option(fc.double({ min: 0, max: 100, noNaN: true })),
        isCompleted: fc.boolean(),
        at: fc.date({ min: at(1), max: at(28), noInvalidDate: true }),
      }),
    ),
  })
  .map(said => book(said as Partial<Publication>))

const namespaces = {
  a: 'http://www.w3.org/2005/Atom',
  dc: 'http://purl.org/dc/terms/',
  opds: 'http://opds-spec.org/2010/catalog',
  os: 'http://a9.com/-/spec/opensearch/1.1/',
  pse: 'http://vaemendis.net/opds-pse/ns',
  thr: 'http://purl.org/syndication/thread/1.0',
}

/** What an XPath finds, as text. */
export function find(xml: string, path: string): string[] {
  using document = XmlDocument.fromString(xml)
  return document.root.find(path, namespaces).map(node => node.content)
}

/** What HTML of a description reads as, line by line; Foliate decodes some of it a second time before. */
export function linesOf(html: string, { isFoliate = false } = {}): string[] {
  const again = { '&lt;': '<', '&gt;': '>', '&amp;': '&' }
  const seen = isFoliate
    ? html.replace(/&(?:lt|gt|amp);/g, found => again[found as keyof typeof again])
    : html
  return seen.split('<br/>').map(line => find(`<p>${line}</p>`, '.')[0]!)
}

export const hrefs = (xml: string, rel: string) => find(xml, `a:link[@rel='${rel}']/@href`)
