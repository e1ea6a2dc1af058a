// A book as catalogues for reading apps show it.
import type { Sql } from 'postgres'
import { seesBook, type Viewer } from '../auth/viewer.ts'
import { NotFound } from '../errors.ts'
import type { FormatName } from '../format/contract.ts'
import type { Author, ReadingDirection } from '../metadata/metadata.ts'
import { pathText } from '../path.ts'

/** How far the viewer is; `page` from 1, 0 for not known. */
export type Place = {
  page: number
  percentage: number | null
  isCompleted: boolean
  at: Date
}

export type Publication = {
  id: string
  title: string
  subtitle: string | null
  /** As written; null where there is none. */
  number: string | null
  /** For sorting: 1.5. */
  position: number | null
  series: { id: string; title: string }
  libraryId: string
  summary: string | null
  authors: Author[]
  publisher: string | null
  imprint: string | null
  language: string | null
  /** Calendar date as far as it is known: `2020`, `2020-01`, `2020-01-31`. */
  released: string | null
  isbn: string | null
  genres: string[]
  tags: string[]
  direction: ReadingDirection | null
  /** Null when the file could not be read; then it can only be downloaded. */
  format: FormatName | null
  /** Why the file cannot be read, for people; null when it can. */
  unreadable: string | null
  /** Of the file, as people read it. */
  fileName: string
  /** Bytes. */
  fileSize: number
  pageCount: number
  /** What its pages are streamed as (OPDS-PSE); null when they cannot be. */
  streamedAs: 'image/jpeg' | 'image/png' | 'image/gif' | null
  /** Of what is said of it and shown of its series, of its file and of its cover. */
  updated: Date
  created: Date
  place: Place | null
}

type Row = Omit<Publication, 'fileName' | 'released' | 'streamedAs' | 'place' | 'series'> & {
  name: Uint8Array
  seriesId: string
  seriesTitle: string
  year: number | null
  month: number | null
  day: number | null
  pageType: Publication['streamedAs']
  currentPage: number | null
  percentage: number | null
  isCompleted: boolean
  progressAt: Date
}

/** The books with these ids in their order; hidden and missing ones are left out. One statement. */
export async function publicationsByIds(
  sql: Sql,
  viewer: Viewer,
  ids: readonly string[],
): Promise<Publication[]> {
  if (ids.length === 0) return []
  const rows = await sql<Row[]>`
    select b.id, b.title, b.more->>'subtitle' as subtitle, b.number, b.number_sort as position,
      b.series_id as "seriesId", s.title as "seriesTitle", b.library_id as "libraryId", b.summary,
      b.authors, coalesce(b.publisher, s.publisher) as publisher, b.imprint,
      coalesce(b.language, s.language) as language, b.year, b.month, b.day, b.isbn, b.genres, b.tags,
      coalesce(b.reading_direction, s.reading_direction, l.default_reading_direction) as direction,
      b.format, b.error_message as unreadable, b.name, b.size::float8 as "fileSize", b.page_count as "pageCount",
      b.page_type as "pageType", b.created_at as created,
      greatest(b.updated_at, s.said_at) as updated,
      p.current_page as "currentPage", p.percentage, p.is_completed as "isCompleted",
      p.updated_at as "progressAt"
    from unnest(${ids as string[]}::uuid[]) with ordinality as wanted(id, place)
    join book b on b.id = wanted.id and b.missing_at is null
    join series s on s.id = b.series_id
    join library l on l.id = b.library_id
    left join progress p on p.account_id = ${viewer.accountId} and p.book_id = b.id
    where ${seesBook(sql, viewer)}
    order by wanted.place`
  return rows.map(publication)
}

/** Throws NotFound for a book that is not there, is missing on disk, or is hidden. */
export async function publicationById(sql: Sql, viewer: Viewer, id: string): Promise<Publication> {
  const [found] = await publicationsByIds(sql, viewer, [id])
  if (!found) throw new NotFound('Book not found')
  return found
}

function publication(row: Row): Publication {
  const { name, seriesId, seriesTitle, year, month, day, pageType, ...rest } = row
  const { currentPage, percentage, isCompleted, progressAt, ...book } = rest
  return {
    ...book,
    series: { id: seriesId, title: seriesTitle },
    fileName: pathText(name),
    released: releasedOn(year, month, day),
    streamedAs: streamedAs(book, pageType),
    place:
      currentPage === null ? null : { page: currentPage, percentage, isCompleted, at: progressAt },
  }
}

/** What the pages of a book are streamed as; null when they cannot be. */
export function streamedAs(
  { format, pageCount }: Pick<Publication, 'format' | 'pageCount'>,
  pageType: Publication['streamedAs'],
) {
  if (format === null || pageCount === 0) return null
  // Pages of a PDF are drawn; mixed pages are made alike. Of an EPUB only a fixed layout has pages.
  return pageType ?? (format === 'epub' ? null : 'image/jpeg')
}

function releasedOn(year: number | null, month: number | null, day: number | null): string | null {
  if (year === null || year < 1 || year > 9999) return null
  const start = String(year).padStart(4, '0')
  if (month === null || month < 1 || month > 12) return start
  const two = (n: number) => String(n).padStart(2, '0')
  if (day === null) return `${start}-${two(month)}`
  const date = new Date(`${start}-${two(month)}-01T00:00:00Z`)
  date.setUTCDate(day)
  // The 31st of June is what some file says, and no date.
  return date.getUTCDate() === day ? `${start}-${two(month)}-${two(day)}` : `${start}-${two(month)}`
}
