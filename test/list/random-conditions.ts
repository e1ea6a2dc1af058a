// Arbitraries (fast-check) of filter conditions in the form of requests, and of viewers.
import fc from 'fast-check'
import type { Viewer } from '../../lib/accounts/viewer.ts'
import type { Facts } from './catalog-facts.ts'

const textOperators = ['is', 'isNot', 'contains', 'doesNotContain', 'beginsWith', 'endsWith']
const nulls = fc.constantFrom({ operator: 'isNull' }, { operator: 'isNotNull' })
const texts = (...values: string[]) =>
  fc.oneof(
    {
      weight: 5,
      arbitrary: fc.record({
        operator: fc.constantFrom(...textOperators),
        value: fc.constantFrom(...values),
      }),
    },
    nulls,
  )
const numbers = (from: number, to: number) =>
  fc.oneof(
    fc.record({
      operator: fc.constantFrom('eq', 'ne', 'gt', 'gte', 'lt', 'lte'),
      value: fc.integer({ min: from, max: to }),
    }),
    fc.record({
      operator: fc.constant('between'),
      min: fc.integer({ min: from, max: to }),
      max: fc.integer({ min: from, max: to }),
    }),
    nulls,
  )
const dateOperators = (moments: fc.Arbitrary<Date>) => {
  const value = moments.map(moment => moment.toISOString())
  return fc.oneof(
    fc.record({
      operator: fc.constantFrom('after', 'before', 'onOrAfter', 'onOrBefore'),
      value,
    }),
    fc.record({ operator: fc.constant('between'), start: value, end: value }),
  )
}
const dates = dateOperators(
  fc.integer({ min: 0, max: 20 }).map(day => new Date(1_700_000_000_000 + day * 86_400_000)),
)
const readDates = fc.oneof(
  { weight: 4, arbitrary: dateOperators(fc.integer({ min: 0, max: 200 }).map(readTime)) },
  nulls,
)
/** On and next to the first days of years and months. */
const releaseDates = fc.oneof(
  {
    weight: 4,
    arbitrary: dateOperators(
      fc
        .tuple(
          fc.integer({ min: 1990, max: 1995 }),
          fc.integer({ min: 0, max: 3 }),
          fc.constantFrom(-86_400_000, -1, 0, 1, 86_400_000),
        )
        .map(([year, month, distance]) => new Date(Date.UTC(year, month) + distance)),
    ),
  },
  nulls,
)
const parts = (...values: string[]) =>
  fc.record({
    operator: fc.constantFrom(...textOperators.slice(2)),
    value: fc.constantFrom(...values),
  })
const booleans = fc.oneof(
  fc.constantFrom(
    { operator: 'isTrue' },
    { operator: 'isFalse' },
    { operator: 'is', value: 'true' },
    { operator: 'isNot', value: true },
  ),
  parts('tru', 'e', 'x'),
  nulls,
)
const ids = (from: string[]) =>
  fc.oneof(
    fc.record({ operator: fc.constantFrom('is', 'isNot'), value: fc.constantFrom(...from) }),
    fc.record({ operator: fc.constantFrom('in', 'notIn'), values: fc.subarray(from) }),
    parts(...from.slice(0, 2).flatMap(id => [id.slice(0, 14).toUpperCase(), id.slice(-3)])),
    nulls,
  )
const status = fc.oneof(
  fc.record({
    operator: fc.constantFrom('is', 'isNot'),
    value: fc.constantFrom('unread', 'in_progress', 'read'),
  }),
  parts('read', 'UN', '_'),
  nulls,
)
const genre = texts('action', 'ACTION', 'sci', 'epique', '百', 'i', 'none such')
const tag = texts('long', 'classic', 'o', '_', '%')
const title = texts(
  'Naruto',
  'emile',
  'one',
  '撃',
  "don't",
  '%',
  '_',
  'X',
  'a_b',
  'Ölbaum',
  '0% n',
  'ﾓﾝｶ',
)

function readTime(second: number): Date {
  return new Date(1_710_000_000_000 + second * 1000)
}

type Fields = Record<string, fc.Arbitrary<object>>

function tree(fields: Fields): fc.Arbitrary<object> {
  const leaf = fc.oneof(
    ...Object.entries(fields).map(([field, test]) => test.map(test => ({ [field]: test }))),
  )
  return fc.letrec<{ node: object; leaf: object }>(tie => ({
    leaf,
    node: fc.oneof(
      { depthSize: 'small', maxDepth: 3, withCrossShrink: true },
      tie('leaf'),
      fc.record({ allOf: fc.array(tie('node'), { maxLength: 3 }) }),
      fc.record({ anyOf: fc.array(tie('node'), { maxLength: 3 }) }),
    ),
  })).node
}

export function bookConditions(facts: Facts) {
  return tree({
    libraryId: ids(facts.libraries),
    seriesId: ids(facts.series.slice(0, 12).map(s => s.id)),
    genre,
    tag,
    readStatus: status,
    title,
    hasError: booleans,
    pageCount: numbers(0, 40),
    ...{ dateAdded: dates, addedAt: dates, lastReadAt: readDates, releaseDate: releaseDates },
    ...{ wantToRead: booleans, userRating: numbers(1, 100) },
    path: texts('Köln', 'KÖLN', '.cbz', '-1', 'köln/', 'ln/0', 'köln/0', 'zzz/'),
    format: texts('CBZ', 'epub', 'b', 'p'),
    titleSort: texts('the', 'emile', 'one', 'x, the', 'Ölbaum'),
    summary: texts('of a', 'none such'),
    bookType: texts('manga', 'o', 'x'),
    author: texts('akira toriyama', 'EMILE', '尾', 'ola', 'a'),
  })
}

export function seriesConditions(facts: Facts) {
  return tree({
    libraryId: ids(facts.libraries),
    genre,
    tag,
    readStatus: status,
    title,
    name: title,
    titleSort: texts('the', 'one', 'Émile'),
    status: texts('Ended', 'on'),
    publisher: texts('GLENAT', 'viz', 'v'),
    language: texts('en', 'J'),
    path: texts('row 1', '1'),
    year: numbers(1990, 1996),
    ...{ dateAdded: dates, addedAt: dates, lastReadAt: readDates, releaseDate: releaseDates },
    ...{ wantToRead: booleans, hasUserRating: booleans },
    ...{ userRating: numbers(1, 100), communityRating: numbers(1, 100) },
    author: texts('akira toriyama', 'EMILE', '尾', 'ola', 'a'),
    completion: booleans,
    ...{ ageRating: numbers(5, 19), format: texts('CBZ', 'epub', 'b'), hasError: booleans },
    ...{ hasMissing: booleans, bookCount: numbers(0, 12), pageCount: numbers(0, 240) },
    sharingTag: texts('kids', 'd'),
  })
}

export function viewers(facts: Facts, accountId: string): fc.Arbitrary<Viewer> {
  const tags = Object.values(facts.sharingTags)
  return fc.record({
    accountId: fc.constant(accountId),
    libraries: fc.option(fc.subarray(facts.libraries), { freq: 2 }),
    allowedTags: fc.subarray(tags, { maxLength: 1 }),
    deniedTags: fc.subarray(tags, { maxLength: 1 }),
    ageLimit: fc.option(fc.constantFrom(6, 12), { freq: 1 }),
    showsUnrated: fc.boolean(),
  })
}
