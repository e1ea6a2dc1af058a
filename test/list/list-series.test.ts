// Property tests of series lists against the oracle.
import { deepEqual, equal } from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import { unrestrictedViewer } from '../../lib/accounts/viewer.ts'
import { parseSeriesFilter } from '../../lib/list/condition.ts'
import {
  alphabeticalGroups,
  listSeries,
  type SeriesListRequest,
} from '../../lib/list/list-series.ts'
import type { SeriesSort } from '../../lib/list/sort.ts'
import { sortKey } from '../../lib/media/name/natural.ts'
import { createServices } from '../../lib/store/services.ts'
import { createDatabase } from '../kit/db.ts'
import { makeFacts, type SeriesFacts, storeFacts } from './catalog-facts.ts'
import { createOracle, holds } from './oracle.ts'
import { seriesConditions, viewers } from './random-conditions.ts'

const { sql } = await createDatabase(t)
const db = { sql, services: createServices(sql) }
const facts = makeFacts(3, 90)
await storeFacts(sql, facts)
const [account] = facts.accounts as [string]
const oracle = createOracle(facts, account)
const { listed, booksOf, testSeries, isVisibleSeries, matchesSeries } = oracle
const everyone = unrestrictedViewer(account)

const bytes = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b))
const title = (s: SeriesFacts) => sortKey(s.titleSort ?? s.title)
/** Sort orders of values that few series have: ties by title. */
const byTitle = ['read', 'rating', 'communityRating']
const idOf = (s: SeriesFacts) => s.id

/** All pages of a list. */
async function pages(request: Omit<SeriesListRequest, 'page'>, viewer = everyone) {
  const ids: string[] = []
  for (let page = 1; ; page++) {
    const result = await listSeries(db, viewer, { ...request, page })
    ids.push(...result.ids)
    if (result.ids.length < request.pageSize) return { ids, total: result.total }
  }
}

t.test('every sort order lists every series with books once, nulls last, ties by id', async t => {
  const keys: Partial<Record<SeriesSort, (s: SeriesFacts) => string | number | null>> = {
    title,
    created: s => s.createdAt.getTime(),
    year: s => s.year,
    books: s => booksOf(s).length,
    filename: s => sortKey(s.folder ?? s.title),
    read: oracle.lastReadAt,
    rating: oracle.ratingOf,
    communityRating: oracle.meanRating,
  }
  for (const [sort, key] of Object.entries(keys)) {
    for (const direction of ['asc', 'desc'] as const) {
      const sign = direction === 'asc' ? 1 : -1
      const tie = (a: SeriesFacts, b: SeriesFacts) =>
        byTitle.includes(sort)
          ? bytes(title(a), title(b)) || bytes(a.id, b.id)
          : sign * bytes(a.id, b.id)
      const expected = [...listed].sort((a, b) => {
        const [x, y] = [key(a), key(b)]
        if (x === null || y === null) return Number(x === null) - Number(y === null) || tie(a, b)
        return sign * (typeof x === 'string' ? bytes(x, String(y)) : x - Number(y)) || tie(a, b)
      })
      const { ids, total } = await pages({
        filter: null,
        sort: sort as SeriesSort,
        direction,
        pageSize: 13,
      })
      t.equal(total, listed.length)
      t.same(ids, expected.map(idOf), `${sort} ${direction}`)
    }
  }
})

t.test('every page of a random order has other series', async t => {
  for (const seed of [1, 2]) {
    const { ids } = await pages({ filter: null, sort: 'random', seed, pageSize: 13 })
    t.same([...ids].sort(), listed.map(idOf).sort())
    const whole = await pages({ filter: null, sort: 'random', seed, pageSize: 1_000 })
    t.same(ids, whole.ids)
  }
})

t.test('random conditions select the series of the oracle, for random viewers', async () => {
  const sorts = fc.constantFrom(...(['title', 'year', 'read'] as SeriesSort[]))
  await fc.assert(
    fc.asyncProperty(
      seriesConditions(facts),
      viewers(facts, account),
      sorts,
      async (condition, viewer, sort) => {
        const filter = parseSeriesFilter(condition, { isAdmin: true })!
        const expected = listed.filter(
          s => isVisibleSeries(viewer)(s) && holds(filter.condition, testSeries(s, viewer)),
        )
        const { ids, total } = await pages({ filter, sort, pageSize: 40 }, viewer)
        deepEqual([...ids].sort(), expected.map(idOf).sort())
        equal(total, expected.length)
        const groups = await alphabeticalGroups(db, viewer, { filter })
        equal(
          groups.reduce((sum, group) => sum + group.count, 0),
          expected.length,
        )
      },
    ),
    { numRuns: 200, seed: 5 },
  )
})

t.test('each series has one read status, also if all of its books are hidden', async t => {
  for (const ageLimit of [null, 6, 12]) {
    const viewer = { ...everyone, ageLimit, showsUnrated: true }
    for (const status of ['read', 'in_progress', 'unread']) {
      const test = { readStatus: { operator: 'is', value: status } }
      const filter = parseSeriesFilter(test, { isAdmin: true })!
      const expected = listed.filter(
        s => isVisibleSeries(viewer)(s) && holds(filter.condition, testSeries(s, viewer)),
      )
      const { ids } = await pages({ filter, sort: 'title', pageSize: 40 }, viewer)
      t.same([...ids].sort(), expected.map(idOf).sort(), `${status}, age ${ageLimit}`)
    }
  }
})

t.test('searches match titles, folders, authors, genres and tags', async t => {
  for (const query of [
    'naruto',
    '巨',
    'emile',
    'dont',
    'row 1',
    'action piece',
    'toriyama',
    'sci fi',
    'onepiece',
    'the naruto',
    'drslump',
    'zzz',
  ]) {
    const expected = listed.filter(matchesSeries(query))
    const { ids, total } = await pages({ filter: null, text: query, pageSize: 20 })
    t.equal(total, expected.length, query)
    t.same([...ids].sort(), expected.map(idOf).sort(), query)
  }
})

t.test('alphabetical groups are first characters, in lower case and without accents', async t => {
  const groups = await alphabeticalGroups(db, everyone, { filter: null })
  const expected = new Map<string, number>()
  for (const s of listed) {
    const initial = (s.titleSort ?? s.title).slice(0, 1).normalize('NFD').slice(0, 1).toLowerCase()
    expected.set(initial, (expected.get(initial) ?? 0) + 1)
  }
  t.same(Object.fromEntries(groups.map(g => [g.group, g.count])), Object.fromEntries(expected))
  const matching = await alphabeticalGroups(db, everyone, { filter: null, text: '進撃' })
  t.equal(
    matching.reduce((sum, g) => sum + g.count, 0),
    listed.filter(matchesSeries('進撃')).length,
  )
})
