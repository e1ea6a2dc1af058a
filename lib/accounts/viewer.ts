// Visibility rules: SQL predicates for the libraries, series and books that an account may see. Every
// list, count, lookup, image and file adds them to its statement, so hidden rows look absent.
import type { Fragment } from 'postgres'
import type { Queryable } from '../store/postgres/db.ts'
import { allOf } from '../store/postgres/statement.ts'

export type Viewer = {
  accountId: string
  /** Libraries the account has access to; null for all. */
  libraries: readonly string[] | null
  /** Has access to all libraries, including those that are being removed. */
  hasAllLibraries?: boolean
  /** Sharing tags. If any is allowed, only series with an allowed one are visible; a denied tag hides. */
  allowedTags: readonly string[]
  deniedTags: readonly string[]
  /** Highest visible age rating in years; null for no limit. */
  ageLimit: number | null
  /** Whether series without an age rating are visible to an account with a limit. */
  showsUnrated: boolean
}

/** An account from which nothing is hidden. */
export function unrestrictedViewer(accountId: string): Viewer {
  return {
    accountId,
    libraries: null,
    allowedTags: [],
    deniedTags: [],
    ageLimit: null,
    showsUnrated: true,
  }
}

/** For the server's own work. */
export const serverViewer = unrestrictedViewer('00000000-0000-0000-0000-000000000000')

/** True when nothing is hidden, so that stored counters of libraries and series are correct. */
export function isUnrestricted(viewer: Viewer): boolean {
  return viewer.libraries === null && !isLimited(viewer)
}

/** True when age or sharing tags hide series or books within the visible libraries. */
export function isLimited({ allowedTags, deniedTags, ageLimit }: Viewer): boolean {
  return allowedTags.length > 0 || deniedTags.length > 0 || ageLimit !== null
}

/** True when individual books of a visible series may be hidden by their own age rating. */
export function hidesBooks({ ageLimit }: Viewer): boolean {
  return ageLimit !== null
}

/** A condition on `library l`. */
export function visibleLibrary(sql: Queryable, viewer: Viewer): Fragment {
  if (viewer.libraries === null) return sql`true`
  return sql`l.id = any(${viewer.libraries as string[]}::uuid[])`
}

/** A condition on `series s`. Individual books of a visible series may still be hidden (`hidesBooks`). */
export function visibleSeries(sql: Queryable, viewer: Viewer): Fragment {
  const { libraries, allowedTags, deniedTags, ageLimit } = viewer
  const parts: Fragment[] = []
  if (libraries !== null) parts.push(sql`s.library_id = any(${libraries as string[]}::uuid[])`)
  if (ageLimit !== null) parts.push(hasVisibleRating(sql, viewer))
  if (deniedTags.length > 0) parts.push(sql`not ${hasSharingTag(sql, deniedTags)}`)
  if (allowedTags.length > 0) parts.push(hasSharingTag(sql, allowedTags))
  return allOf(sql, parts)
}

/** A condition on `book b` whose series is `series s`. */
export function visibleBook(sql: Queryable, viewer: Viewer): Fragment {
  const series = visibleSeries(sql, viewer)
  if (!hidesBooks(viewer)) return series
  // A book without a rating inherits its series' rating.
  return sql`(${series} and (b.age_rating is null or b.age_rating <= ${viewer.ageLimit}))`
}

/** A condition on a book: its file existed at the last scan. */
export function presentBook(sql: Queryable, alias = 'b'): Fragment {
  return sql`${sql(alias)}.missing_at is null`
}

/** A condition on a book of a visible series: hidden by its own age rating. False for null ratings and without a limit. */
export function beyondAge(sql: Queryable, { ageLimit }: Viewer, alias = 'b'): Fragment {
  return sql`${sql(alias)}.age_rating > ${ageLimit}`
}

/** A condition on a book of a visible series: present and beyond the age limit. */
export function presentBeyondAge(sql: Queryable, viewer: Viewer, alias = 'b'): Fragment {
  return sql`${beyondAge(sql, viewer, alias)} and ${presentBook(sql, alias)}`
}

/** `from book y where …`: the present books beyond the age limit, of all series. */
export function fromBooksBeyondAge(sql: Queryable, viewer: Viewer): Fragment {
  return sql`from book y where ${presentBeyondAge(sql, viewer, 'y')}`
}

/** A condition on a visible `series s` with present books: at least one of them is visible. */
export function hasVisibleBook(sql: Queryable, { ageLimit }: Viewer): Fragment {
  return ageLimit === null ? sql`true` : sql`s.lowest_age <= ${ageLimit}`
}

/**
 * Ids of the series with books that do not meet `isSeen`, a condition on `series s`. Usually these are the
 * minority, so the fastest test of many rows is `series_id in (…) is not true`: a set hashed once.
 */
export function unseenSeries(sql: Queryable, isSeen: Fragment): Fragment {
  return sql`select s.id from series s where s.book_count > 0 and (${isSeen}) is not true`
}

/** What an event records about a deleted series or book. */
type DeletedItem = {
  /** The higher of its own age rating and its series' rating. */
  rating: number | null
  /** The series has no rating. */
  isUnrated: boolean
  /** Sharing tags of the series. */
  tags: readonly string[]
}

/** The rules of `visibleSeries` and `visibleBook`, except for libraries, applied to a deleted item. */
export function couldSee(
  { ageLimit, showsUnrated, allowedTags, deniedTags }: Viewer,
  { rating, isUnrated, tags }: DeletedItem,
): boolean {
  if (ageLimit !== null && ((isUnrated && !showsUnrated) || (rating ?? 0) > ageLimit)) return false
  if (deniedTags.some(tag => tags.includes(tag))) return false
  return allowedTags.length === 0 || allowedTags.some(tag => tags.includes(tag))
}

function hasVisibleRating(sql: Queryable, { ageLimit, showsUnrated }: Viewer): Fragment {
  return showsUnrated
    ? sql`(s.age_rating is null or s.age_rating <= ${ageLimit})`
    : sql`s.age_rating <= ${ageLimit}`
}

function hasSharingTag(sql: Queryable, tags: readonly string[]): Fragment {
  return sql`exists (
    select from series_sharing_tag t
    where t.series_id = s.id and t.tag_id = any(${tags as string[]}::uuid[]))`
}
