// What matching knows of series and books: their contexts for templates and conditions, and their libraries.
import { presentBook, type Viewer } from '../accounts/viewer.ts'
import { NotFound } from '../base/errors.ts'
import {
  type BookContext,
  bookContext,
  type SeriesContext,
  seriesContexts,
} from '../catalog/metadata/template-context.ts'
import { type Owner, type OwnerKind, ownerNotFound } from '../catalog/owner.ts'
import type { BookQuery, SearchQuery } from '../sources/contract.ts'
import type { Sql } from '../store/postgres/db.ts'
import {
  compileQuery,
  librariesOf,
  type Matching,
  type SeriesLibrary,
} from './matching-settings.ts'
import { withoutYear } from './search-queries.ts'

/** `series` is what conditions test, also for books. */
export type MatchContext = {
  owner: Owner
  own: SeriesContext | BookContext
  series: SeriesContext
  library: SeriesLibrary
}

/** By id, without hidden and unknown ones. */
export async function matchContexts(
  sql: Sql,
  viewer: Viewer,
  { kind, ids }: { kind: OwnerKind; ids: readonly string[] },
): Promise<Map<string, MatchContext>> {
  const contexts =
    kind === 'series'
      ? [...(await seriesContexts(sql, viewer, ids))]
      : await bookContexts(sql, viewer, ids)
  const seriesIdOf = (context: SeriesContext | BookContext) => context.seriesId!
  const libraries = await librariesOf(
    sql,
    contexts.map(([, context]) => seriesIdOf(context)),
  )
  return new Map(
    contexts.flatMap(([id, own]) => {
      const library = libraries.get(seriesIdOf(own))
      const series = own.type === 'series' ? own : own.series
      return library ? [[id, { owner: { kind, id }, own, series, library }] as const] : []
    }),
  )
}

/** Throws NotFound. */
export async function matchContext(sql: Sql, viewer: Viewer, owner: Owner): Promise<MatchContext> {
  const context = (await matchContexts(sql, viewer, { kind: owner.kind, ids: [owner.id] })).get(
    owner.id,
  )
  if (!context) throw ownerNotFound(owner.kind)
  return context
}

async function bookContexts(sql: Sql, viewer: Viewer, ids: readonly string[]) {
  const contexts: [string, BookContext][] = []
  for (const id of ids) {
    try {
      contexts.push([id, await bookContext(sql, viewer, id)])
    } catch (error) {
      if (!(error instanceof NotFound)) throw error
    }
  }
  return contexts
}

/** What is searched for; null without a text and an ISBN. */
export function seriesQueryOf(
  { own, library }: MatchContext,
  matching: Matching,
  limit: number,
): SearchQuery | null {
  const text = compileQuery(matching)(own, library)
  const query = matching.searchTemplate === null ? withoutYear(text) : text
  return query === '' ? null : { query, limit }
}

/** Like `seriesQueryOf`, for a book: its title, its first author, and its first ISBN. */
export function bookQueryOf(
  { own, library }: MatchContext,
  matching: Matching,
  limit: number,
): BookQuery | null {
  const title = compileQuery(matching)(own, library)
  const { authors = [], isbns } = own.metadata as BookContext['metadata']
  const author = authors.find(({ role }) => role === 'writer' || role === 'author') ?? authors[0]
  const isbn = isbns?.split(',', 1)[0] ?? null
  return title === '' && isbn === null ? null : { title, author: author?.name ?? null, isbn, limit }
}

/** When a series began: its own year, or that of its earliest book. */
export async function firstYearOf(sql: Sql, { seriesId, metadata }: SeriesContext) {
  if (metadata.year) return metadata.year
  const [row] = await sql<{ year: number | null }[]>`
    select min(b.year) as year from book b where b.series_id = ${seriesId} and ${presentBook(sql)}`
  return row?.year ?? null
}
