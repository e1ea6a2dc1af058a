// Lists of series and books as described by Komga's requests, found by the list engine.
import type { Sql } from 'postgres'
import type { Viewer } from '../../../accounts/viewer.ts'
import { type Condition, conjuncts, idsOf, onlyId } from '../../../list/condition.ts'
import { type BookListRequest, listBooks } from '../../../list/list-books.ts'
import { alphabeticalGroups, listSeries, type SeriesListFilter } from '../../../list/list-series.ts'
import type { IdPage } from '../../../list/sort.ts'
import { resolveCollections } from '../../../organize/collection/rules.ts'
import type { WithServices } from '../../../store/services.ts'
import type { Reader } from '../values.ts'
import { checked, type ParsedCondition } from './condition.ts'
import { allOfParts } from './condition-tree.ts'
import { parseFullText } from './full-text.ts'
import { bookFields, seriesFields } from './full-text-fields.ts'
import { bookOrder, type SortProperty, seriesOrder } from './sort.ts'

export type Search = ParsedCondition & { fullText?: string | null | undefined }
export type ListRequest = Search & {
  sort: readonly SortProperty[]
  /** Seed for random orders. */
  seed: number
  offset: number
  limit: number
}

/** Komga also has no more results for a search by relevance. */
const maxHits = 1_000

/** Ids of a page of series, and the total. Throws Invalid. */
export async function findSeries(
  db: WithServices,
  reader: Reader,
  { sort, seed, offset, limit, ...search }: ListRequest,
): Promise<IdPage> {
  const { viewer, collectionId, ...filter } = await seriesFilter(db.sql, reader, search)
  return await listSeries(db, viewer, {
    ...filter,
    ...seriesOrder(sort, collectionId),
    ...{ collectionId, seed, ...pageAt(offset, limit) },
  })
}

/** The number of series by first character of the sort title. Throws Invalid. */
export async function groupSeries(db: WithServices, reader: Reader, search: Search) {
  const { viewer, ...filter } = await seriesFilter(db.sql, reader, search)
  return await alphabeticalGroups(db, viewer, filter)
}

type SeriesScope = SeriesListFilter & { viewer: Viewer; collectionId: string | undefined }

async function seriesFilter(
  sql: Sql,
  { viewer, isAdmin }: Reader,
  { fullText, ...search }: Search,
): Promise<SeriesScope> {
  const query = parseFullText(fullText ?? '', seriesFields, { isAdmin, now: new Date() })
  const { condition, includeDeleted } = both(search, query)
  const { libraryId, libraries, rest } = scopeOf(condition)
  const filter = await resolveCollections(sql, rest && { of: 'series', condition: rest })
  return {
    ...{ filter, libraryId, text: query.text, onlyWithVisibleBooks: true },
    viewer: limitedTo(viewer, libraries),
    includeDeleted,
    collectionId: onlyId(condition, 'collectionId'),
  }
}

/** Ids of a page of books, and the total. Throws Invalid. */
export async function findBooks(
  db: WithServices,
  { viewer, isAdmin }: Reader,
  { fullText, sort, seed, offset, limit, ...search }: ListRequest,
): Promise<IdPage> {
  const query = parseFullText(fullText ?? '', bookFields, { isAdmin, now: new Date() })
  const { condition, includeDeleted } = both(search, query)
  const { libraryId, libraries, seriesId, rest } = scopeOf(condition)
  const readListId = onlyId(condition, 'readListId')
  const order = bookOrder(sort, { seriesId, readListId, seed })
  const isByRelevance =
    query.text !== '' && !order.keys && (order.sort ?? 'relevance') === 'relevance'
  const request: BookListRequest = {
    ...{ filter: rest && { of: 'book', condition: rest }, libraryId, seriesId },
    ...{ includeDeleted, text: query.text },
    ...(isByRelevance ? { maxBooks: maxHits } : {}),
    ...order,
    ...pageAt(offset, limit),
  }
  return await listBooks(db, limitedTo(viewer, libraries), request)
}

/** The intersection of two conditions. Throws Invalid. */
function both(a: ParsedCondition, b: ParsedCondition) {
  const includeDeleted = a.includeDeleted || b.includeDeleted
  const condition = allOfParts([a.condition, b.condition])
  return { condition: checked({ condition, includeDeleted }), includeDeleted }
}

/** Offsets are always multiples of the limit. */
const pageAt = (offset: number, limit: number) => ({
  page: Math.floor(offset / limit) + 1,
  pageSize: limit,
})

type Scope = {
  libraryId?: string
  libraries?: readonly string[]
  seriesId?: string
  rest: Condition | null
}

/** Extracts the tests for libraries and for one series from a condition: lists of these need no plan for it. */
function scopeOf(condition: Condition | null): Scope {
  const scope: Scope = { rest: null }
  const rest: Condition[] = []
  for (const part of conjuncts(condition)) {
    const libraries = scope.libraryId || scope.libraries ? null : idsOf(part, 'libraryId')
    const series = scope.seriesId ? null : idsOf(part, 'seriesId')
    if (libraries?.length === 1) scope.libraryId = libraries[0]!
    else if (libraries) scope.libraries = libraries
    else if (series?.length === 1) scope.seriesId = series[0]!
    else rest.push(part)
  }
  return { ...scope, rest: allOfParts(rest) }
}

/** The same viewer, limited to these libraries. */
function limitedTo(viewer: Viewer, libraries: readonly string[] | undefined): Viewer {
  if (!libraries) return viewer
  const seen = viewer.libraries
  return { ...viewer, libraries: seen ? libraries.filter(id => seen.includes(id)) : libraries }
}
