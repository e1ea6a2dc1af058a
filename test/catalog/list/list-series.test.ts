import { deepEqual, equal } from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import type { Viewer } from '../../../lib/auth/viewer.ts'
import { parseSeriesFilter } from '../../../lib/catalog/list/filter.ts'
import { alphabeticalGroups, listSeries } from '../../../lib/catalog/list/list-series.ts'
import type { SeriesSort } from '../../../lib/catalog/list/sort.ts'
import { sortKey } from '../../../lib/name/natural.ts'
import { database } from '../../kit/db.ts'
import { makeFacts, type SeriesFacts, storeFacts } from './books.ts'
import { seriesConditions, viewers } from './conditions.ts'
import { holds, truth } from './truth.ts'

const { sql } = await database(t)
const facts = makeFacts(3, 90)
await storeFacts(sql, facts)
const [account] = facts.accounts as [string]
const { shown, progress, booksOf, ofSeries, seesSeries, findsSeries } = truth(facts, account)
const all: Viewer = {
  accountId: account,
  libraries: null,
  allowedTags: [],
  deniedTags: [],
  ageLimit: null,
  showsUnrated: true,
}

const bytes = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b))
const title = (s: SeriesFacts) => sortKey(s.titleSort ?? s.title)
const idOf = (s: SeriesFacts) => s.id

async function pages(asked: Omit<Parameters<typeof listSeries>[2], 'page'>, viewer = all) {
  const ids: string[] = []
  for (let page = 1; ; page++) {
    const found = await listSeries(sql, viewer, { ...asked, page })
    ids.push(...found.ids)
    if (found.ids.length < asked.pageSize) return { ids, total: found.total }
  }
}

t.test('every order lists every series with books once, nulls last, ids decide ties', async t => {
  const lastRead = (s: SeriesFacts) => {
    const times = booksOf(s).flatMap(b => progress.get(b.id)?.at.getTime() ?? [])
    return times.length > 0 ? Math.max(...times) : null
  }
  const keys: Partial<Record<SeriesSort, (s: SeriesFacts) => string | number | null>> = {
    title,
    created: s => s.createdAt.getTime(),
    year: s => s.year,
    books: s => booksOf(s).length,
    filename: s => sortKey(s.folder ?? s.title),
    read: lastRead,
  }
  for (const [sort, key] of Object.entries(keys)) {
    for (const direction of ['asc', 'desc'] as const) {
      const sign = direction === 'asc' ? 1 : -1
      const tie = (a: SeriesFacts, b: SeriesFacts) =>
        sort === 'read' ? bytes(title(a), title(b)) || bytes(a.id, b.id) : sign * bytes(a.id, b.id)
      const wanted = [...shown].sort((a, b) => {
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
      t.equal(total, shown.length)
      t.same(ids, wanted.map(idOf), `${sort} ${direction}`)
    }
  }
})

t.test('random conditions select what they mean, for everybody', async () => {
  const sorts = fc.constantFrom(...(['title', 'year', 'read'] as SeriesSort[]))
  await fc.assert(
    fc.asyncProperty(
      seriesConditions(facts),
      viewers(facts, account),
      sorts,
      async (condition, viewer, sort) => {
        const filter = parseSeriesFilter(condition, { admin: true })!
        const wanted = shown.filter(
          s => seesSeries(viewer)(s) && holds(filter.condition, ofSeries(s)),
        )
        const { ids, total } = await pages({ filter, sort, pageSize: 40 }, viewer)
        deepEqual([...ids].sort(), wanted.map(idOf).sort())
        equal(total, wanted.length)
        const groups = await alphabeticalGroups(sql, viewer, { filter })
        equal(
          groups.reduce((sum, group) => sum + group.count, 0),
          wanted.length,
        )
      },
    ),
    { numRuns: 200, seed: 5 },
  )
})

t.test('series are found by titles, folder, authors, genres and tags', async t => {
  for (const query of [
    'naruto',
    '巨',
    'emile',
    'dont',
    'row 1',
    'action piece',
    'toriyama',
    'sci fi',
    'zzz',
  ]) {
    const wanted = shown.filter(findsSeries(query))
    const { ids, total } = await pages({ filter: null, text: query, pageSize: 20 })
    t.equal(total, wanted.length, query)
    t.same([...ids].sort(), wanted.map(idOf).sort(), query)
  }
})

t.test('groups are first characters, lower-case and without accents', async t => {
  const groups = await alphabeticalGroups(sql, all, { filter: null })
  const wanted = new Map<string, number>()
  for (const s of shown) {
    const initial = (s.titleSort ?? s.title).slice(0, 1).normalize('NFD').slice(0, 1).toLowerCase()
    wanted.set(initial, (wanted.get(initial) ?? 0) + 1)
  }
  t.same(Object.fromEntries(groups.map(g => [g.group, g.count])), Object.fromEntries(wanted))
  const found = await alphabeticalGroups(sql, all, { filter: null, text: '進撃' })
  t.equal(
    found.reduce((sum, g) => sum + g.count, 0),
    shown.filter(findsSeries('進撃')).length,
  )
})
