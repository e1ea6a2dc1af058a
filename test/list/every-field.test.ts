// The index in memory and the plain statement make the same lists: every field with every operator, and random trees of
// them, for random viewers, sort orders and pages.
import { deepEqual, ok } from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import type { Viewer } from '../../lib/accounts/viewer.ts'
import { type Condition, parseBookFilter, parseSeriesFilter } from '../../lib/list/condition.ts'
import {
  bookFields,
  type FieldKind,
  nullOperators,
  operators,
  seriesFields,
} from '../../lib/list/fields.ts'
import { createBookIndex } from '../../lib/list/index/books/book-index.ts'
import { createSeriesIndex, type SeriesRequest } from '../../lib/list/index/series/series-index.ts'
import { seriesSortColumns } from '../../lib/list/sort.ts'
import { type BookList, readBooks } from '../../lib/list/sql/book-statement.ts'
import { readSeries } from '../../lib/list/sql/series-statement.ts'
import { createDatabase } from '../kit/db.ts'
import { createRandom } from '../kit/random.ts'
import { makeFacts, storeFacts } from './catalog-facts.ts'
import { environmentOf } from './environment.ts'
import { addInnerFacts, innerTests } from './inner-facts.ts'
import { sorts } from './plain-list.ts'
import { viewers } from './random-conditions.ts'

const { sql } = await createDatabase(t)
const facts = makeFacts(61, 40)
await storeFacts(sql, facts)
const random = createRandom(61)
const { below, pick, chance } = random
const inner = innerTests(await addInnerFacts(sql, facts, random), random)
const [account] = facts.accounts as [string]
const someone = fc.sample(viewers(facts, account), { numRuns: 400, seed: 61 })
const directions = ['asc', 'desc'] as const
const rounds = 1

/** Words and parts of words that some rows have. */
const words = [
  'Naruto',
  'one',
  'action',
  'Classic',
  'cbz',
  'Viz',
  'en',
  'row 1',
  'a',
  '%',
  'zola',
  'manga',
  'ongoing',
]
const idsOf = (field: string) =>
  field === 'libraryId' ? facts.libraries : facts.series.slice(0, 5).map(({ id }) => id)

function operandsOf(kind: FieldKind, field: string, operator: string, arity: string): object {
  const isPart = /contain|with/i.test(operator)
  const day = () => new Date(Date.UTC(1990 + below(36), below(12), 1 + below(28))).toISOString()
  const value = () =>
    kind === 'number'
      ? below(40)
      : kind === 'date'
        ? day()
        : kind === 'status'
          ? pick(['unread', 'read', 'in_progress'])
          : kind === 'boolean'
            ? chance(0.5)
            : kind === 'id'
              ? pick(idsOf(field))
              : pick(words)
  if (arity === 'nothing') return {}
  if (arity === 'values') return { values: idsOf(field).slice(0, 2) }
  if (arity === 'range')
    return kind === 'date' ? { start: day(), end: day() } : { min: below(10), max: below(40) }
  return { value: isPart && kind !== 'text' ? pick(['re', 'un', 't', '0']) : value() }
}

function* everyTest(fields: Record<string, FieldKind>) {
  for (const [field, kind] of Object.entries(fields)) {
    for (const [operator, arity] of Object.entries<string>(operators[kind]))
      for (let i = 0; i < rounds; i++)
        yield { [field]: { operator, ...operandsOf(kind, field, operator, arity) } }
    for (const operator of nullOperators) yield { [field]: { operator } }
  }
}

/** Each condition alone, and in a tree with others. */
function* trees(conditions: Condition[]): Generator<Condition> {
  for (const one of conditions) {
    yield one
    const [a, b] = [pick(conditions), pick(conditions)]
    yield chance(0.5) ? { all: [one, { any: [a, b] }] } : { any: [one, { all: [a, b] }] }
  }
}

const innerConditions = (tests: ReturnType<typeof innerTests>['book']): Condition[] =>
  Object.entries(tests).flatMap(([field, test]) =>
    Array.from({ length: 3 }, () => ({ field, test: test(), negated: chance(0.5) })),
  )

t.test('books', async t => {
  const index = createBookIndex(environmentOf(sql), { pause: 0 })
  const conditions = [
    ...[...everyTest(bookFields)].map(one => parseBookFilter(one)!.condition),
    ...innerConditions(inner.book),
  ]
  let compared = 0
  for (const condition of trees(conditions)) {
    const viewer = pick(someone)
    const list: BookList = {
      ...{ filter: { of: 'book', condition }, search: null, sort: pick(sorts) },
      ...{ direction: pick(directions), includeDeleted: chance(0.3) },
      ...{
        libraryId: chance(0.2) ? pick(facts.libraries) : undefined,
        offset: below(3) * 9,
        limit: 9,
      },
    }
    const expected = await readBooks(sql, viewer, list)
    let page = await index.page(sql, viewer, list)
    if (!page) {
      index.refresh(viewer, list)
      await index.idle()
      page = await index.page(sql, viewer, list)
    }
    ok(page)
    deepEqual({ ...page }, { ...expected }, JSON.stringify({ list, viewer }))
    compared++
  }
  t.ok(compared > 400, `${compared} lists`)
})

t.test('series', async t => {
  const index = createSeriesIndex(environmentOf(sql), { pause: 0 })
  const conditions = [
    ...[...everyTest(seriesFields)].map(
      one => parseSeriesFilter(one, { isAdmin: true })!.condition,
    ),
    ...innerConditions(inner.series),
  ]
  const orders = [
    ...(Object.keys(seriesSortColumns) as (keyof typeof seriesSortColumns)[]),
    ...(['read', 'rating', 'communityRating', 'random'] as const),
  ]
  let compared = 0
  for (const condition of trees(conditions)) {
    const viewer: Viewer = pick(someone)
    const list: SeriesRequest = {
      ...{ filter: { of: 'series', condition }, sort: pick(orders), direction: pick(directions) },
      ...{ includeDeleted: chance(0.3), onlyWithVisibleBooks: chance(0.5) },
      ...{
        libraryId: chance(0.2) ? pick(facts.libraries) : undefined,
        offset: below(3) * 9,
        limit: 9,
      },
    }
    const then = [] as const
    const expected = await readSeries(sql, viewer, { ...list, then, seed: 0, search: null })
    let page = await index.page(sql, viewer, list)
    if (!page) {
      index.refresh(viewer, list)
      await index.idle()
      page = await index.page(sql, viewer, list)
    }
    ok(page)
    deepEqual({ ...page }, { ...expected }, JSON.stringify({ list, viewer }))
    compared++
  }
  t.ok(compared > 400, `${compared} lists`)
})
