// What is searched for where a title is more than a title: years of series, series and authors in titles of books.
import type { BookQuery, SeriesHit } from '../sources/contract.ts'

/** `Invincible (2003)` is known to sources as `Invincible`. */
export const withoutYear = (title: string): string =>
  title.replace(/(\S)\s*\((?:19|20)\d\d(?:\s*[-–]\s*(?:(?:19|20)\d\d)?)?\)$/, '$1')

/** The hit that began nearest to a year, among those as relevant as the first one. */
export function nearestOf(hits: readonly SeriesHit[], year: number | null): SeriesHit | null {
  const best = hits.filter(({ relevance }) => relevance === hits[0]?.relevance)
  const distance = (hit: SeriesHit) =>
    year === null || hit.year === null ? Number.POSITIVE_INFINITY : Math.abs(hit.year - year)
  return best.reduce<SeriesHit | null>(
    (nearest, hit) => (nearest && distance(nearest) <= distance(hit) ? nearest : hit),
    null,
  )
}

/**
 * Further queries for a book that was not found: without what is in brackets, as `Dune (Dune Chronicles, Book 1)`; and
 * as title and author in either order, as files without metadata are named.
 */
export function otherBookQueries(query: BookQuery): BookQuery[] {
  const plain = query.title.replace(/\s*[([][^)\]]*[)\]]/g, '').trim()
  const others = plain === '' || plain === query.title ? [] : [{ ...query, title: plain }]
  const [first, second, ...more] = plain.split(/ [-–] /)
  if (query.author !== null || !first || !second || more.length > 0) return others
  return [
    ...others,
    { ...query, title: first, author: second },
    { ...query, title: second, author: first },
  ]
}
