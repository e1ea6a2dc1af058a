// Which series and books an account may see: the one place where that is decided. Every list, count,
// look-up, image and file puts these fragments into its statement; what is hidden is not there.
import type { Fragment, Sql, TransactionSql } from 'postgres'

export type Viewer = {
  accountId: string
  /** Libraries the account may look into; null means all. */
  libraries: readonly string[] | null
  /** Was given all libraries, also those that are being removed just now. */
  hasAllLibraries?: boolean
  /** Sharing tags: with any allowed one only series that carry one are seen; a denied one hides. */
  allowedTags: readonly string[]
  deniedTags: readonly string[]
  /** Highest age rating in years; null means all. */
  ageLimit: number | null
  /** Whether what has no age rating is seen by an account with a limit. */
  showsUnrated: boolean
}

type Db = Sql | TransactionSql

/** True when nothing is hidden, so that counters of libraries and series can be believed. */
export function isUnrestricted(viewer: Viewer): boolean {
  return (
    viewer.libraries === null &&
    viewer.allowedTags.length === 0 &&
    viewer.deniedTags.length === 0 &&
    viewer.ageLimit === null
  )
}

/** True when age or tags hide some things within the libraries that are seen. */
export function isLimited(viewer: Viewer): boolean {
  return !isUnrestricted({ ...viewer, libraries: null })
}

/** A condition on `library l`. */
export function seesLibrary(sql: Db, viewer: Viewer): Fragment {
  if (viewer.libraries === null) return sql`true`
  return sql`l.id = any(${viewer.libraries as string[]}::uuid[])`
}

/** A condition on `series s`. Books of a series that is seen may be hidden by their own age rating. */
export function seesSeries(sql: Db, viewer: Viewer): Fragment {
  const { libraries, allowedTags, deniedTags, ageLimit } = viewer
  const parts: Fragment[] = []
  if (libraries !== null) parts.push(sql`s.library_id = any(${libraries as string[]}::uuid[])`)
  if (ageLimit !== null) parts.push(isOfAge(sql, sql`s.age_rating`, viewer))
  if (deniedTags.length > 0) parts.push(sql`not ${carries(sql, deniedTags)}`)
  if (allowedTags.length > 0) parts.push(carries(sql, allowedTags))
  return all(sql, parts)
}

/** A condition on `book b` whose series is `series s`. */
export function seesBook(sql: Db, viewer: Viewer): Fragment {
  const series = seesSeries(sql, viewer)
  if (viewer.ageLimit === null) return series
  // A book without a rating is rated as its series.
  return sql`(${series} and (b.age_rating is null or b.age_rating <= ${viewer.ageLimit}))`
}

/**
 * For `series s` that is seen: `shown` is how many of its present books the viewer sees, once `join`
 * stands after it. For lists, because it looks at all books beyond the age.
 */
export function itsBooks(sql: Db, { ageLimit }: Viewer): { join: Fragment; shown: Fragment } {
  if (ageLimit === null) return { join: sql``, shown: sql`s.book_count` }
  const join = sql`
    left join (
      select y.series_id, count(*) as n from book y
      where y.age_rating > ${ageLimit} and y.missing_at is null
      group by y.series_id) beyond on beyond.series_id = s.id`
  return { join, shown: sql`(s.book_count - coalesce(beyond.n, 0))` }
}

/** A condition on `series s` with present books that is seen: the viewer sees one of them. */
export function showsBooks(sql: Db, { ageLimit }: Viewer): Fragment {
  return ageLimit === null ? sql`true` : sql`s.lowest_age <= ${ageLimit}`
}

type Gone = { rating: number | null; isUnrated: boolean; tags: readonly string[] }

/**
 * The same for a series or a book that is gone, of which only facts are left: the higher one of its own
 * age rating and that of its series, whether the series has none, and the tags of the series.
 */
export function sawGone(
  { ageLimit, showsUnrated, allowedTags, deniedTags }: Viewer,
  { rating, isUnrated, tags }: Gone,
): boolean {
  if (ageLimit !== null && ((isUnrated && !showsUnrated) || (rating ?? 0) > ageLimit)) return false
  if (deniedTags.some(tag => tags.includes(tag))) return false
  return allowedTags.length === 0 || allowedTags.some(tag => tags.includes(tag))
}

function isOfAge(sql: Db, rating: Fragment, { ageLimit, showsUnrated }: Viewer) {
  return showsUnrated
    ? sql`(${rating} is null or ${rating} <= ${ageLimit})`
    : sql`${rating} <= ${ageLimit}`
}

function carries(sql: Db, tags: readonly string[]) {
  return sql`exists (
    select from series_sharing_tag t
    where t.series_id = s.id and t.tag_id = any(${tags as string[]}::uuid[]))`
}

function all(sql: Db, parts: Fragment[]): Fragment {
  if (parts.length === 0) return sql`true`
  return sql`(${parts.reduce((whole, part) => sql`${whole} and ${part}`)})`
}
