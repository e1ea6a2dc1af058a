// Publication: the projection of a book for OPDS feeds and manifests.
import type { Fragment, Sql } from 'postgres'
import { beyondAge, hidesBooks, presentBook, type Viewer } from '../../accounts/viewer.ts'
import { NotFound } from '../../base/errors.ts'
import { pathText } from '../../base/path.ts'
import { fromVisibleBooks, joinLibrary, joinProgress } from '../../catalog/book/visible-books.ts'
import { readingPlace } from '../../catalog/derived/reading-order.ts'
import { type FormatName, isReflowable } from '../../media/format/formats.ts'
import { singleLine } from '../../media/metadata/text.ts'
import type { Author, ReadingDirection } from '../../media/metadata/values.ts'

/** Progress of the viewer; `page` is 1-based, 0 if unknown. */
export type ReadingProgress = {
  page: number
  percentage: number | null
  isCompleted: boolean
  updatedAt: Date
}

export type Publication = {
  id: string
  title: string
  subtitle: string | null
  /** As written; null if there is none. */
  number: string | null
  /** For sorting, such as 1.5. */
  seriesPosition: number | null
  series: { id: string; title: string }
  libraryId: string
  summary: string | null
  authors: Author[]
  publisher: string | null
  imprint: string | null
  language: string | null
  /** Calendar date, as precise as known: `2020`, `2020-01`, `2020-01-31`. */
  releaseDate: string | null
  isbn: string | null
  genres: string[]
  tags: string[]
  readingDirection: ReadingDirection | null
  /** Null when the file could not be read, so that it can only be downloaded. */
  format: FormatName | null
  /** Error message of an unreadable file, otherwise null. */
  unreadableReason: string | null
  fileName: string
  /** Bytes. */
  fileSize: number
  pageCount: number
  /** Media type of streamed pages (OPDS-PSE); null when they cannot be streamed. */
  streamMediaType: 'image/jpeg' | 'image/png' | 'image/gif' | null
  /** Last change of its metadata, the displayed metadata of its series, its file or its cover. */
  updatedAt: Date
  createdAt: Date
  progress: ReadingProgress | null
}

type Computed = 'fileName' | 'releaseDate' | 'streamMediaType' | 'progress' | 'series'
type Row = Omit<Publication, Computed> & {
  name: Uint8Array
  seriesId: string
  seriesTitle: string
  year: number | null
  month: number | null
  day: number | null
  pageType: Publication['streamMediaType']
  currentPage: number | null
  percentage: number | null
  isCompleted: boolean
  progressUpdatedAt: Date
}

/** The books with these ids, in order, in one statement; hidden and missing ones are left out. */
export async function publicationsByIds(
  sql: Sql,
  viewer: Viewer,
  ids: readonly string[],
): Promise<Publication[]> {
  if (ids.length === 0) return []
  const rows = await sql<Row[]>`
    select b.id, b.title, b.extra_metadata->>'subtitle' as subtitle, b.number,
      ${seriesPosition(sql, viewer)} as "seriesPosition", b.series_id as "seriesId", s.title as "seriesTitle",
      b.library_id as "libraryId", b.summary, b.authors,
      coalesce(b.publisher, s.publisher) as publisher, b.imprint,
      coalesce(b.language, s.language) as language, b.year, b.month, b.day, b.isbn, b.genres, b.tags,
      coalesce(b.reading_direction, s.reading_direction, l.default_reading_direction)
        as "readingDirection",
      b.format, b.error_message as "unreadableReason", b.name, b.size::float8 as "fileSize",
      b.page_count as "pageCount", b.page_type as "pageType", b.created_at as "createdAt",
      greatest(b.updated_at, s.metadata_changed_at) as "updatedAt",
      p.current_page as "currentPage", p.percentage, p.is_completed as "isCompleted",
      p.updated_at as "progressUpdatedAt"
    ${fromVisibleBooks(sql, viewer, {
      ids,
      joins: sql`${joinLibrary(sql)} ${joinProgress(sql, viewer)}`,
      where: presentBook(sql),
    })}`
  return rows.map(toPublication)
}

/** The number, or the place in reading order if numbers repeat, because readers sort by it. */
function seriesPosition(sql: Sql, viewer: Viewer): Fragment {
  const visible = hidesBooks(viewer) ? sql`and (${beyondAge(sql, viewer, 'o')}) is not true` : sql``
  return sql`case when b.volume_sort is null then b.number_sort else (
    select count(*)::float8 from book o
    where o.series_id = b.series_id and ${presentBook(sql, 'o')} ${visible}
      and ${readingPlace(sql, 'o')} <= ${readingPlace(sql, 'b')}) end`
}

/** Throws NotFound for a book that is unknown, missing on disk, or hidden. */
export async function publicationById(sql: Sql, viewer: Viewer, id: string): Promise<Publication> {
  const [book] = await publicationsByIds(sql, viewer, [id])
  if (!book) throw new NotFound('Book not found')
  return book
}

function toPublication(row: Row): Publication {
  const { name, seriesId, seriesTitle, year, month, day, pageType, ...rest } = row
  const { currentPage: page, percentage, isCompleted, progressUpdatedAt, ...book } = rest
  return {
    ...book,
    series: { id: seriesId, title: seriesTitle },
    fileName: pathText(name),
    releaseDate: formatPartialDate(year, month, day),
    streamMediaType: streamMediaType(book, pageType),
    progress:
      page === null ? null : { page, percentage, isCompleted, updatedAt: progressUpdatedAt },
  }
}

/** The media type of a book's streamed pages; null when they cannot be streamed. */
export function streamMediaType(
  { format, pageCount }: Pick<Publication, 'format' | 'pageCount'>,
  pageType: Publication['streamMediaType'],
) {
  if (format === null || pageCount === 0) return null
  // PDF pages are rendered, mixed types are converted. Only EPUBs with a fixed layout have pages.
  return pageType ?? (isReflowable(format) ? null : 'image/jpeg')
}

function formatPartialDate(year: number | null, month: number | null, day: number | null) {
  if (year === null || year < 1 || year > 9999) return null
  const yearText = String(year).padStart(4, '0')
  if (month === null || month < 1 || month > 12) return yearText
  const twoDigits = (n: number) => String(n).padStart(2, '0')
  const monthText = `${yearText}-${twoDigits(month)}`
  if (day === null) return monthText
  const date = new Date(`${monthText}-01T00:00:00Z`)
  date.setUTCDate(day)
  // Metadata may contain invalid dates such as June 31st.
  return date.getUTCDate() === day ? `${monthText}-${twoDigits(day)}` : monthText
}

// The authors are the people with a role from the first of these sets that matches anyone: the artist for a comic
// without a writer, people without a role for a PDF.
const authorRoles: ReadonlySet<string>[] = [
  new Set(['writer', 'author', '']),
  new Set(['illustrator', 'artist', 'penciller']),
]

/** Distinct names of the authors and of everyone else, in the given order, without blank names. */
export function namesOf(everyone: readonly Author[]): {
  authors: string[]
  contributors: string[]
} {
  const named = everyone.filter(({ name }) => singleLine(name) !== undefined)
  const roles = authorRoles.find(set => named.some(({ role }) => set.has(role ?? '')))
  const authors = new Set(
    named.filter(({ role }) => roles?.has(role ?? '')).map(({ name }) => name),
  )
  const contributors = new Set(named.map(({ name }) => name)).difference(authors)
  return { authors: [...authors], contributors: [...contributors] }
}

/** Summary as plain text, preceded by the error of an unreadable file. Null if there is neither. */
export function summaryText({ unreadableReason, summary }: Publication): string | null {
  if (unreadableReason === null) return summary
  return [`This file cannot be read: ${unreadableReason}`, summary ?? ''].join('\n').trim()
}

/** Properties of Readium metadata for roles of the catalog; others are contributors. */
export const propertyByRole: Readonly<Record<string, string>> = {
  writer: 'author',
  author: 'author',
  penciller: 'penciler',
  inker: 'inker',
  colorist: 'colorist',
  letterer: 'letterer',
  editor: 'editor',
  translator: 'translator',
  artist: 'artist',
  illustrator: 'illustrator',
  narrator: 'narrator',
}

const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB']

/** `12.3 MiB`. */
export function sizeText(bytes: number): string {
  const step = Math.min(units.length - 1, Math.floor(Math.log2(Math.max(1, bytes)) / 10))
  return step === 0 ? `${bytes} B` : `${(bytes / 1024 ** step).toFixed(1)} ${units[step]}`
}
