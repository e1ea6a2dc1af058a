// Requests of the grid: conditions, plain lists, facets and searches, in sampled sort orders and pages.

import {
  presentBook,
  type Viewer,
  visibleBook,
  visibleLibrary,
  visibleSeries,
} from '../../lib/accounts/viewer.ts'
import { resources } from '../../lib/api/resources.ts'
import {
  bookSortNames,
  parseBookSort,
  parseSeriesSort,
  seriesSortNames,
} from '../../lib/list/sort.ts'
import type { Sql } from '../../lib/store/postgres/db.ts'
import { allOf } from '../../lib/store/postgres/statement.ts'
import { createRandom, type Random } from '../../test/kit/random.ts'
import { type NamedCondition, randomCondition, singleConditions } from './conditions.ts'
import type { CountQuery } from './counts.ts'
import { searchTexts } from './texts.ts'
import type { Entity } from './values.ts'

export type Group = 'single' | 'plain' | 'facets' | 'search' | 'full' | 'pairs'
/** `last` and `middle` of the pages there are. */
export type PageChoice = 'first' | 'second' | 'hundredth' | 'middle' | 'late' | 'last'
export type GridCase = {
  group: Group
  name: string
  /** Index in the list of viewers. */
  viewer: number
  path: string
  body?: object
  page: PageChoice | null
  pageSize?: number
  /** For a plain count of what must match. */
  counted?: CountQuery
}

type Options = { sql: Sql; seed: number; pairs: number; viewers: readonly Viewer[] }

const directions = ['asc', 'desc'] as const
const sorts: Record<Entity, string[]> = {
  book: distinctSorts(bookSortNames, name => parseBookSort(name).sort),
  series: distinctSorts(seriesSortNames, name => parseSeriesSort(name).sort),
}
const lists: Record<Entity, string> = { book: '/books/list', series: '/series/list' }
const pages: PageChoice[] = ['first', 'first', 'middle', 'last']
const pagesOfLists: PageChoice[] = ['first', 'second', 'hundredth', 'middle', 'late', 'last']

/** One name for each sort order but relevance, which only searches have. */
function distinctSorts(names: string[], sortOf: (name: string) => string | undefined): string[] {
  const byOrder = new Map(names.toReversed().map(name => [sortOf(name), name]))
  byOrder.delete('relevance')
  return [...byOrder.values()]
}

export async function gridCases(options: Options): Promise<GridCase[]> {
  const { sql, seed, pairs } = options
  const viewers = options.viewers.length
  const singles = {
    book: await singleConditions(sql, 'book'),
    series: await singleConditions(sql, 'series'),
  }
  const random = createRandom(seed)
  const cases = (['book', 'series'] as const).flatMap(entity => [
    ...singles[entity].flatMap(one => conditionCases(entity, one, { random, viewers })),
    ...randomCases(entity, singles[entity], { seed, pairs: Math.ceil(pairs / 2), viewers }),
  ])
  const ids = await idsFor(sql, options.viewers)
  return [
    ...cases,
    ...plainCases(random, viewers, ids),
    ...facetCases(viewers, ids, [...singles.series]),
    ...(await searchCases(sql, random, viewers, ids)),
  ]
}

/** Facts of records visible to every viewer. */
async function idsFor(sql: Sql, viewers: readonly Viewer[]): Promise<Ids> {
  const visibleToAll = (visible: typeof visibleSeries) =>
    allOf(
      sql,
      viewers.map(viewer => visible(sql, viewer)),
    )
  const fromLibraries = sql`select l.id from library l where ${visibleToAll(visibleLibrary)}`
  const [ids] = await sql<Ids[]>`
    select (${fromLibraries} order by l.book_count desc limit 1) as library,
      (${fromLibraries} order by l.book_count limit 1) as small,
      (select s.id from series s where ${visibleToAll(visibleSeries)}
        order by s.book_count desc limit 1) as series,
      (select b.id from book b join series s on s.id = b.series_id
        where ${presentBook(sql)} and ${visibleToAll(visibleBook)}
        order by b.sort_key offset 100000 limit 1) as book`
  return ids!
}

type Draw = { random: Random; viewers: number }

/** For the unrestricted viewer and for one other, each with an order and a page of its own. */
function conditionCases(entity: Entity, one: NamedCondition, draw: Draw): GridCase[] {
  const others = 1 + draw.random.below(draw.viewers - 1)
  return [0, others].map(viewer => conditionCase('single', entity, one, { ...draw, viewer }))
}

function conditionCase(
  group: Group,
  entity: Entity,
  { name, condition }: NamedCondition,
  { random, viewer }: { random: Random; viewer: number },
): GridCase {
  const order = random.chance(0.25)
    ? ''
    : `?sort=${random.pick(sorts[entity])},${random.pick(directions)}`
  const isWithMissing = entity === 'book' && random.chance(0.1)
  return {
    group,
    name: `${name}${isWithMissing ? ' with missing' : ''}`,
    viewer,
    path: `${lists[entity]}${order}`,
    body: { condition, ...(isWithMissing ? { includeDeleted: true } : {}) },
    page: random.pick(pages),
    ...(isWithMissing ? {} : { counted: { entity, condition } }),
  }
}

function randomCases(
  entity: Entity,
  singles: NamedCondition[],
  { seed, pairs, viewers }: { seed: number; pairs: number; viewers: number },
): GridCase[] {
  return Array.from({ length: pairs }, (_, i) => {
    const random = createRandom(seed * 100_003 + i)
    const one = randomCondition(random, singles)
    return conditionCase('pairs', entity, one, { random, viewer: i % viewers })
  })
}

type Ids = { library: string; small: string; series: string; book: string }

/** Every paged list of books and series. Releases have a bench of their own. */
function plainCases(random: Random, viewers: number, ids: Ids): GridCase[] {
  const paths = resources.flatMap(({ method, path, query, permission }) => {
    const names = Object.keys((query as { properties?: object } | undefined)?.properties ?? {})
    const isList = names.includes('page') && /^(Books|Series)Read$/.test(String(permission))
    if (method !== 'GET' || !isList || /\/(genres|tags|errors|duplicates|releases)/.test(path))
      return []
    return [{ path, isSorted: names.includes('sort') }]
  })
  const cases: GridCase[] = []
  const add = (one: Omit<GridCase, 'viewer' | 'name'>, all = false) => {
    const chosen = all
      ? Array.from({ length: viewers }, (_, i) => i)
      : [0, 1 + random.below(viewers - 1)]
    for (const viewer of chosen) cases.push({ ...one, name: one.path, viewer })
  }
  for (const { path, isSorted } of paths) {
    const own = path.startsWith('/series/{id}') ? ids.series : ids.library
    const filled = path.replace('{id}', own)
    const isFull = path.endsWith('/full')
    if (isFull) {
      add({ group: 'full', path: filled, page: 'first', pageSize: 500 })
      add({ group: 'full', path: filled, page: 'middle', pageSize: 500 })
      continue
    }
    const entity = /series$/.test(path) ? 'series' : 'book'
    const orders = isSorted
      ? ['', ...sorts[entity].flatMap(name => directions.map(way => `?sort=${name},${way}`))]
      : ['']
    for (const order of orders)
      for (const page of pagesOfLists) add({ group: 'plain', path: filled + order, page }, !order)
  }
  for (const name of sorts.book)
    for (const page of pages) {
      const path = `/books/list?sort=${name},${random.pick(directions)}`
      add({ group: 'plain', path, page, body: { includeDeleted: true } })
    }
  return cases
}

function facetCases(viewers: number, ids: Ids, singles: NamedCondition[]): GridCase[] {
  const lists = [
    '/genres',
    '/tags',
    '/books/errors',
    '/duplicates',
    '/duplicates/series',
    '/progress',
  ]
  const others = [
    '/libraries',
    `/books/${ids.book}/adjacent`,
    `/books/${ids.book}`,
    `/series/${ids.series}`,
    `/series/${ids.series}/books?includeDeleted=true`,
  ]
  const groups = '/series/list/alphabetical-groups'
  const everyone = Array.from({ length: viewers }, (_, i) => i)
  return everyone.flatMap(viewer => {
    const base = { group: 'facets' as const, viewer }
    return [
      ...lists.flatMap(path =>
        (['first', 'last'] as const).map(page => ({ ...base, name: path, path, page })),
      ),
      ...others.map(path => ({ ...base, name: path, path, page: null })),
      { ...base, name: groups, path: groups, body: {}, page: null },
      ...singles
        .filter((_, i) => i % (viewers * 4) === viewer)
        .map(({ name, condition }) => ({
          ...{ ...base, name: `${groups} ${name}`, path: groups },
          ...{ body: { condition }, page: null },
        })),
    ]
  })
}

type SearchRequest = Pick<GridCase, 'path' | 'page'> & {
  body: { fullTextSearch: string; condition?: object }
}

async function searchCases(
  sql: Sql,
  random: Random,
  viewers: number,
  ids: Ids,
): Promise<GridCase[]> {
  const texts = Object.entries(await searchTexts(sql))
  const is = { libraryId: { operator: 'is', value: ids.small } }
  return texts.flatMap(([name, text]) =>
    (['book', 'series'] as const).flatMap(entity => {
      const body = { fullTextSearch: text }
      const base = { group: 'search' as const, path: lists[entity], page: 'first' as const }
      const order = `${lists[entity]}?sort=${random.pick(sorts[entity])},${random.pick(directions)}`
      const requests: SearchRequest[] = [
        { ...base, body },
        { ...base, body, page: 'last' },
        { ...base, body, path: order, page: random.pick(pages) },
        { ...base, body: { ...body, condition: is } },
      ]
      return requests.flatMap(one =>
        [0, 1 + random.below(viewers - 1)].map(viewer => ({
          ...{ ...one, group: 'search' as const, viewer },
          counted: { entity, text, condition: one.body.condition },
          name: `${entity} search ${name} (${text})`,
        })),
      )
    }),
  )
}
