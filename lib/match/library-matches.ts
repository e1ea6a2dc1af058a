// The results of matching the series or books of a library, latest first.
import { type Viewer, visibleBook, visibleSeries } from '../accounts/viewer.ts'
import { component, count, nullable, oneOf, type Static, Type, uuid } from '../base/schema.ts'
import type { OwnerKind } from '../catalog/owner.ts'
import type { Sql } from '../store/postgres/db.ts'
import { matchColumns, SourceMatch } from './match-queue.ts'
import { type Outcome, outcomes } from './outcome.ts'

export const LibraryMatch = component('LibraryMatch', {
  id: uuid({ description: 'Id of the series or book.' }),
  title: Type.String(),
  ...SourceMatch.properties,
})
export type LibraryMatch = Static<typeof LibraryMatch>

export const OutcomeCount = component('OutcomeCount', {
  outcome: nullable(oneOf(outcomes, { description: 'Null before the first attempt.' })),
  count: count(),
})
export type OutcomeCount = Static<typeof OutcomeCount>

type Request = {
  libraryId: string
  kind: OwnerKind
  /** Null for all sources. */
  sourceId: string | null
  /** Null for all outcomes. */
  outcome: Outcome | null
  offset: number
  pageSize: number
}

/** A page of the results, and how many there are of each outcome. */
export async function libraryMatches(
  sql: Sql,
  viewer: Viewer,
  { libraryId, kind, sourceId, outcome, offset, pageSize }: Request,
): Promise<{ data: LibraryMatch[]; total: number; counts: OutcomeCount[] }> {
  const matches =
    kind === 'series'
      ? sql`
          series_match m join source p on p.id = m.source_id join series s on s.id = m.series_id
          where s.library_id = ${libraryId} and ${visibleSeries(sql, viewer)}`
      : sql`
          book_match m join source p on p.id = m.source_id
          join book b on b.id = m.book_id join series s on s.id = b.series_id
          where b.library_id = ${libraryId} and ${visibleBook(sql, viewer)}`
  const ofSource = sourceId === null ? sql`true` : sql`m.source_id = ${sourceId}`
  const counts = await sql<OutcomeCount[]>`
    select m.outcome, count(*)::integer as count from ${matches} and ${ofSource}
    group by m.outcome order by m.outcome`
  const item = kind === 'series' ? sql`s` : sql`b`
  const data = await sql<LibraryMatch[]>`
    select ${item}.id, ${item}.title, ${matchColumns(sql, kind)}
    from ${matches} and ${ofSource} and ${outcome === null ? sql`true` : sql`m.outcome = ${outcome}`}
    order by m.matched_at desc nulls first, m.${sql(`${kind}_id`)}, m.source_id
    limit ${pageSize} offset ${offset}`
  const counted = counts.filter(of => outcome === null || of.outcome === outcome)
  const total = counted.reduce((sum, of) => sum + of.count, 0)
  return { data: [...data], total, counts: [...counts] }
}
