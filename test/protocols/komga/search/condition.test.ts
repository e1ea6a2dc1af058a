// Property test of Komga's search conditions against the naive evaluator, and conditions the parser rejects.
import t from 'tap'
import {
  parseBookCondition,
  parseSeriesCondition,
} from '../../../../lib/protocols/komga/search/condition.ts'
import { findBooks } from '../../../../lib/protocols/komga/search/find.ts'
import { createServices } from '../../../../lib/store/services.ts'
import { createDatabase } from '../../../kit/db.ts'
import type { BookFacts } from '../../../list/catalog-facts.ts'
import { createComparison, viewersOf } from './compare.ts'
import { makeKomgaFacts, storeKomgaFacts } from './facts.ts'

const { sql } = await createDatabase(t)
const facts = makeKomgaFacts(7, 60)
await storeKomgaFacts(sql, facts)
const db = { sql, services: createServices(sql) }
const context = { isAdmin: true, now: new Date() }

t.test('random trees select what the evaluator selects, for both kinds of viewer', async () => {
  const compare = createComparison(db, facts)
  for (let seed = 1; seed <= 30; seed++) await compare(seed)
})

t.test('of several libraries or series that a book must be in, all count', async t => {
  const [admin] = viewersOf(facts)
  const [a, b, c] = facts.libraries as [string, string, string]
  const inLibrary = (value: string) => ({ libraryId: { operator: 'is', value } })
  const inSeries = (value: string) => ({ seriesId: { operator: 'is', value } })
  const present = facts.books.filter(book => !book.missing)
  const ofA = present.find(({ series }) => series.library === a)!.series
  const ofB = present.find(({ series }) => series.library === b)!.series
  const ofLibrary = (id: string) => (book: BookFacts) => book.series.library === id
  const ofSeries = (id: string) => (book: BookFacts) => book.series.id === id
  const none = () => false
  const cases: [parts: object[], isExpected: (book: BookFacts) => boolean][] = [
    [[inLibrary(a), inLibrary(b)], none],
    [[{ anyOf: [inLibrary(a), inLibrary(b)] }, inLibrary(b)], ofLibrary(b)],
    [[inLibrary(b), { anyOf: [inLibrary(a), inLibrary(b)] }], ofLibrary(b)],
    [[1, 2].map(i => ({ anyOf: [inLibrary(b), inLibrary(i === 1 ? a : c)] })), ofLibrary(b)],
    [[inSeries(ofA.id), inSeries(ofB.id)], none],
    [[inSeries(ofA.id), inLibrary(b)], none],
    [[inLibrary(a), { anyOf: [inSeries(ofA.id), inSeries(ofB.id)] }], ofSeries(ofA.id)],
  ]
  for (const [parts, isExpected] of cases) {
    const condition = { allOf: parts }
    const found = await findBooks(db, admin!, {
      ...{ sort: [], seed: 0, offset: 0, limit: 1_000 },
      ...parseBookCondition(condition, context),
    })
    const expected = present.filter(isExpected).map(book => book.id)
    t.same([...found.ids].sort(), expected.sort(), JSON.stringify(condition))
    t.equal(found.total, expected.length)
  }
})

t.test('conditions are nested up to a limit, which the message states', t => {
  const isDeleted = { deleted: { operator: 'isFalse' } }
  for (const group of ['allOf', 'anyOf'])
    for (const parse of [parseBookCondition, parseSeriesCondition]) {
      const nested = (levels: number) =>
        Array.from({ length: levels }).reduce<object>(inner => ({ [group]: [inner] }), isDeleted)
      t.ok(parse(nested(19), context))
      t.throws(() => parse(nested(20), context), { message: /nested more than 20 levels/ })
    }
  t.end()
})

t.test('operators of another family are rejected with their place', async t => {
  const families: [fields: string[], operators: string[], others: string[]][] = [
    [
      ['libraryId', 'collectionId', 'publisher', 'language', 'readStatus', 'seriesStatus'],
      ['is', 'isNot'],
      ['contains', 'isNull', 'isTrue', 'greaterThan', 'toString'],
    ],
    [['tag', 'genre', 'sharingLabel'], ['is', 'isNot', 'isNull', 'isNotNull'], ['contains']],
    [
      ['title', 'titleSort'],
      ['is', 'isNot', 'contains', 'doesNotContain', 'beginsWith', 'doesNotBeginWith'],
      ['isNull', 'matches', 'toString'],
    ],
    [['ageRating'], ['is', 'greaterThan', 'lessThan', 'isNull', 'isNotNull'], ['contains']],
    [
      ['deleted', 'oneShot', 'complete'],
      ['isTrue', 'isFalse'],
      ['is', 'isNull'],
    ],
    [['releaseDate'], ['before', 'after', 'isInTheLast', 'isNull'], ['is', 'greaterThan']],
  ]
  for (const [fields, known, others] of families)
    for (const field of fields)
      for (const operator of others) {
        const test = { operator, value: 'READ', dateTime: '2000-01-01T00:00:00Z' }
        const message = new RegExp(`allOf\\[1\\].*operator is not one of .*${known.join('.*')}`)
        t.throws(
          () => parseSeriesCondition({ allOf: [{ allOf: [] }, { [field]: test }] }, context),
          { message },
          `${field} ${operator}`,
        )
      }
})
