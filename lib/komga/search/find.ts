// Lists of series and of books as Komga's requests describe them, found by the list engine of the catalogue.
import type { Sql } from 'postgres'
import { resolveCollections } from '../../catalog/collection/collection-filter.ts'
import type { Condition, Predicate } from '../../catalog/list/condition.ts'
import { type BookListRequest, listBooks } from '../../catalog/list/list-books.ts'
import {
  alphabeticalGroups,
  listSeries,
  type SeriesListFilter,
} from '../../catalog/list/list-series.ts'
import type { IdPage } from '../../catalog/list/page.ts'
import type { Reader } from '../values.ts'
import { checked, type ParsedCondition } from './condition.ts'
import { allOfParts, type Part } from './condition-tree.ts'
import { bookFields, parseFullText, seriesFields } from './full-text.ts'
import { bookOrder, type SortProperty, seriesOrder } from './sort.ts'

/** `condition` as the parser returns it, before missing rows are decided about. */
export type Search = {
  condition: Part
  fullText?: string | null | undefined
}
type ListRequest = Search & {
  sort: readonly SortProperty[]
  /** Of random orders. */
  seed: number
  offset: number
  limit: number
}

/** As Komga, which has no more results of a search by relevance. */
const maxHits = 1_000

/** Ids of a page of series, and the number on all pages. Throws Invalid. */
export async function findSeries(
  sql: Sql,
  reader: Reader,
  { sort, seed, offset, limit, ...search }: ListRequest,
): Promise<IdPage> {
  const { collectionId, ...filter } = await seriesFilter(sql, reader, search)
  return await listSeries(sql, reader.viewer, {
    ...filter,
    ...seriesOrder(sort, collectionId),
    ...{ collectionId, seed, ...pageAt(offset, limit) },
  })
}

/** The number of series for each first character of the sort title. Throws Invalid. */
export async function groupSeries(sql: Sql, reader: Reader, search: Search) {
  return await alphabeticalGroups(sql, reader.viewer, await seriesFilter(sql, reader, search))
}

async function seriesFilter(
  sql: Sql,
  { isAdmin }: Reader,
  { condition, fullText }: Search,
): Promise<SeriesListFilter & { collectionId: string | undefined }> {
  const query = parseFullText(fullText ?? '', seriesFields, { isAdmin, now: new Date() })
  const parsed = checked(allOfParts([condition, query.condition]))
  const { libraryId, rest } = scopeOf(parsed.condition, ['libraryId'])
  const filter = await resolveCollections(sql, rest && { of: 'series', condition: rest })
  return {
    ...{ filter, libraryId, text: query.text, onlyWithVisibleBooks: true },
    includeDeleted: parsed.includeDeleted,
    collectionId: singleId(parsed.condition, 'collectionId'),
  }
}

/** Ids of a page of books, and the number on all pages. Throws Invalid. */
export async function findBooks(
  sql: Sql,
  { viewer, isAdmin }: Reader,
  { condition, fullText, sort, seed, offset, limit }: ListRequest,
): Promise<IdPage> {
  const query = parseFullText(fullText ?? '', bookFields, { isAdmin, now: new Date() })
  const parsed: ParsedCondition = checked(allOfParts([condition, query.condition]))
  const { libraryId, seriesId, rest } = scopeOf(parsed.condition, ['libraryId', 'seriesId'])
  const readListId = singleId(parsed.condition, 'readListId')
  const order = bookOrder(sort, { seriesId, readListId, seed })
  const isByRelevance =
    query.text !== '' && !order.keys && (order.sort ?? 'relevance') === 'relevance'
  const request: BookListRequest = {
    ...{ filter: rest && { of: 'book', condition: rest }, libraryId, seriesId },
    ...{ includeDeleted: parsed.includeDeleted, text: query.text },
    ...(isByRelevance ? { maxResults: maxHits } : {}),
    ...order,
    ...pageAt(offset, limit),
  }
  return await listBooks(sql, viewer, request)
}

/** Offsets are multiples of the length. */
const pageAt = (offset: number, limit: number) => ({
  page: Math.floor(offset / limit) + 1,
  pageSize: limit,
})

type Scope = { libraryId?: string; seriesId?: string; rest: Condition | null }

/** Takes the tests for one library and one series out of a condition: lists of these have indexes. */
function scopeOf(
  condition: Condition | null,
  fields: readonly ('libraryId' | 'seriesId')[],
): Scope {
  const scope: Scope = { rest: null }
  const rest: Condition[] = []
  for (const part of conjuncts(condition)) {
    const field = fields.find(field => singleOf(part, field) !== null)
    if (field && scope[field] === undefined) scope[field] = singleOf(part, field)!
    else rest.push(part)
  }
  return { ...scope, rest: allOfParts(rest) }
}

const conjuncts = (condition: Condition | null): readonly Condition[] =>
  condition === null ? [] : 'all' in condition ? condition.all : [condition]

/** The only id that the condition allows for a field; undefined for none or several. */
function singleId(condition: Condition | null, field: string): string | undefined {
  for (const part of conjuncts(condition)) {
    const id = singleOf(part, field)
    if (id !== null) return id
  }
  return undefined
}

function singleOf(part: Condition, field: string): string | null {
  if (!('field' in part)) return null
  const { test, negated }: Predicate = part
  const isSingle = part.field === field && !negated && test.kind === 'ids' && test.ids.length === 1
  return isSingle ? (test.ids[0] ?? null) : null
}
