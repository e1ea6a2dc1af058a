// Arbitrary OPDS feeds and publications for property tests of the serializers.
import fc from 'fast-check'
import type {
  FacetGroup,
  Feed,
  FeedRef,
  Group,
  NavigationEntry,
} from '../../../lib/protocols/opds/feed.ts'
import type { Publication } from '../../../lib/protocols/publication/publication.ts'

/** Any text that the database can hold: blank, hostile, with control characters. */
export const anyText = fc.oneof(
  fc.constantFrom('', ' ', '\u0001', '\t\n', '\u2028', '\ufeff', '& < > " \'', '💥', 'עברית'),
  fc.string({ maxLength: 20 }),
  fc.string({ unit: 'binary', maxLength: 20 }),
)
const wellFormed = anyText.map(text => text.toWellFormed())
const maybeText = fc.option(anyText)
const time = fc.date({
  min: new Date('1970-01-01'),
  max: new Date('2200-01-01'),
  noInvalidDate: true,
})
const texts = fc.array(anyText, { maxLength: 3 })

/** A publication of any format, readable or not. */
export const anyBook: fc.Arbitrary<Publication> = fc.record({
  id: fc.uuid(),
  title: anyText,
  subtitle: maybeText,
  number: maybeText,
  seriesPosition: fc.option(fc.double({ noNaN: true, noDefaultInfinity: true })),
  series: fc.record({ id: fc.uuid(), title: anyText }),
  libraryId: fc.uuid(),
  summary: maybeText,
  authors: fc.array(
    fc.record({
      name: anyText,
      role: fc.option(fc.oneof(fc.constantFrom('writer', 'penciller', 'cover_artist'), anyText)),
      sortName: maybeText,
    }),
    { maxLength: 3 },
  ),
  publisher: maybeText,
  imprint: maybeText,
  language: fc.option(fc.oneof(fc.constantFrom('en', 'ja-JP', 'zh-Hant', 'xx_', 'qq'), anyText)),
  releaseDate: fc.option(fc.constantFrom('2020', '0001', '2020-02', '2020-02-29')),
  isbn: fc.option(fc.oneof(fc.constant('9783161484100'), anyText)),
  genres: texts,
  tags: texts,
  readingDirection: fc.option(fc.constantFrom('ltr', 'rtl', 'ttb', 'webtoon')),
  format: fc.option(fc.constantFrom('cbz', 'cbr', 'cb7', 'cbt', 'epub', 'pdf')),
  unreadableReason: maybeText,
  fileName: anyText,
  fileSize: fc.nat(),
  pageCount: fc.nat(500),
  streamMediaType: fc.option(fc.constantFrom('image/jpeg', 'image/png', 'image/gif')),
  updatedAt: time,
  createdAt: time,
  progress: fc.option(
    fc.record({
      page: fc.nat(500),
      percentage: fc.option(fc.double({ min: 0, max: 1, noNaN: true })),
      isCompleted: fc.boolean(),
      updatedAt: time,
    }),
  ),
})

const query = fc.dictionary(fc.constantFrom('tag', 'read', 'search'), wellFormed, { maxKeys: 2 })
const ref: fc.Arbitrary<FeedRef> = fc.record({
  path: fc.uuid().map(id => `/series/${id}`),
  query,
  title: anyText,
  kind: fc.constantFrom('navigation', 'acquisition'),
})
const entry: fc.Arbitrary<NavigationEntry> = fc
  .tuple(ref, fc.option(time), fc.option(fc.nat()))
  .map(([ref, updatedAt, count]) => ({ ...ref, updatedAt, ...(count === null ? {} : { count }) }))
const books = fc.uniqueArray(anyBook, { maxLength: 4, selector: ({ id }) => id })
const entries = fc.uniqueArray(entry, { maxLength: 4, selector: ({ path }) => path })
const some = <T>(items: fc.Arbitrary<T[]>) => items.filter(({ length }) => length > 0)
const facets: fc.Arbitrary<FacetGroup[]> = fc.array(
  fc.record({
    title: anyText,
    facets: fc.uniqueArray(
      fc.record({ title: anyText, query, count: fc.nat(), isActive: fc.boolean() }),
      // A group of one facet is left out.
      { minLength: 2, maxLength: 3, selector: ({ query }) => JSON.stringify(query) },
    ),
  }),
  { maxLength: 2 },
)
const group: fc.Arbitrary<Group> = fc
  .tuple(
    ref,
    fc.nat(),
    // The home feed leaves out empty groups.
    fc.oneof(fc.record({ books: some(books) }), fc.record({ entries: some(entries) })),
  )
  .map(([ref, total, items]) => ({
    ...ref,
    total,
    ...('books' in items
      ? { kind: 'acquisition' as const, ...items }
      : { kind: 'navigation' as const, ...items }),
  }))
const common = fc.record({
  path: fc.constantFrom('', '/series', '/search'),
  query,
  title: anyText,
  updatedAt: fc.option(time),
  up: fc.option(ref),
  paging: fc.option(
    fc.record({
      page: fc.integer({ min: 1, max: 9 }),
      pageSize: fc.constantFrom(1, 50, 500),
      total: fc.nat(2000),
    }),
  ),
  facets,
  related: fc.uniqueArray(ref, { maxLength: 2, selector: ({ path }) => path }),
  groups: fc.array(group, { maxLength: 2 }),
})

/** Navigation or books, with groups. */
export const anyFeed: fc.Arbitrary<Feed> = fc.oneof(
  fc.tuple(common, entries).map(([common, entries]) => ({
    ...common,
    kind: 'navigation' as const,
    entries,
  })),
  fc.tuple(common, books, fc.boolean()).map(([common, books, isMixed]) => ({
    ...common,
    kind: 'acquisition' as const,
    books,
    isMixed,
  })),
)
