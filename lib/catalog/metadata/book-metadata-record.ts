// All that is known of books: what details, full lists and the answers to changes show.
import type { Sql, TransactionSql } from 'postgres'
import { seesBook, type Viewer } from '../../auth/viewer.ts'
import { NotFound } from '../../errors.ts'
import {
  type AlternateTitle,
  type Author,
  type Identifier,
  type Link,
  readingDirections,
  type StoryArc,
} from '../../metadata/metadata.ts'
import {
  count,
  json,
  list,
  nullable,
  oneOf,
  record,
  type Static,
  Type,
  timestamp,
  uuid,
} from '../../schema.ts'
import { Label, labelsOf } from '../label/label-record.ts'
import { BookLocks, bookFlags, shownLocks } from './lock-names.ts'
import { type Award, roleFields } from './metadata-fields.ts'
import { bookTypes } from './metadata-values.ts'
import { AlternateTitleRecord, AuthorRecord } from './series-metadata-record.ts'

type Db = Sql | TransactionSql

const line = () => nullable(Type.String())
const lines = () => list(Type.String())
const named = (role: string) =>
  nullable(Type.String({ description: `Names of the ${role}s, with commas between.` }))

export const BookMetadata = record(
  {
    id: uuid({ description: 'That of the book.' }),
    bookId: uuid(),
    title: Type.String(),
    titleSort: line(),
    series: Type.String({ description: 'As the file names it, else the title of its series.' }),
    number: nullable(Type.String({ description: 'As written.' })),
    summary: line(),
    publisher: line(),
    imprint: line(),
    genre: nullable(Type.String({ description: 'All genres, with commas between.' })),
    pageCount: count(),
    languageIso: nullable(Type.String({ description: 'BCP 47.' })),
    releaseDate: nullable(
      Type.String({ format: 'date', description: 'When year, month and day are known.' }),
    ),
    year: nullable(Type.Integer()),
    month: nullable(Type.Integer()),
    day: nullable(Type.Integer()),
    volume: nullable(Type.Number()),
    chapter: nullable(Type.Number()),
    count: nullable(Type.Integer({ description: 'Books of the series, as the source says.' })),
    ageRating: nullable(Type.Integer({ description: 'Years.' })),
    readingDirection: nullable(oneOf(readingDirections)),
    isbns: nullable(Type.String({ description: 'With commas between several.' })),
    writers: lines(),
    pencillers: lines(),
    inkers: lines(),
    colorists: lines(),
    letterers: lines(),
    coverArtists: lines(),
    editors: lines(),
    writer: named('writer'),
    penciller: named('penciller'),
    inker: named('inker'),
    colorist: named('colorist'),
    letterer: named('letterer'),
    coverArtist: named('cover artist'),
    editor: named('editor'),
    translator: named('translator'),
    authors: list(AuthorRecord),
    formatDetail: line(),
    blackAndWhite: nullable(Type.Boolean()),
    manga: nullable(Type.Boolean()),
    bookType: nullable(oneOf(bookTypes)),
    subtitle: line(),
    edition: line(),
    originalTitle: line(),
    originalYear: nullable(Type.Integer()),
    seriesPosition: nullable(Type.Number()),
    seriesTotal: nullable(Type.Integer()),
    subjects: lines(),
    awards: list(
      record({
        name: Type.String(),
        year: nullable(Type.Integer()),
        category: line(),
        won: Type.Boolean(),
      }),
    ),
    customMetadata: json({ description: 'An object kept as it was sent, or null.' }),
    alternateTitles: list(AlternateTitleRecord),
    seriesGroup: line(),
    storyArcs: list(record({ name: Type.String(), number: line() })),
    characters: lines(),
    teams: lines(),
    locations: lines(),
    notes: line(),
    scanInformation: line(),
    identifiers: list(record({ scheme: Type.String(), value: Type.String() })),
    links: list(record({ source: Type.String(), url: Type.String(), externalId: line() })),
    genres: list(Label),
    tags: list(Label),
    locks: BookLocks,
    createdAt: timestamp(),
    updatedAt: timestamp(),
  },
  { component: 'BookMetadata' },
)
export type BookMetadata = Static<typeof BookMetadata>

/** Members of a book's `more`: what its files say, by the names of the metadata, and what users add. */
export type More = Partial<{
  format: string
  blackAndWhite: boolean
  manga: boolean
  count: number
  bookType: (typeof bookTypes)[number]
  subtitle: string
  edition: string
  originalTitle: string
  originalYear: number
  seriesPosition: number
  seriesTotal: number
  subjects: string[]
  awards: Award[]
  customMetadata: Record<string, unknown>
  /** Those beyond the first. */
  isbns: string[]
  alternateTitles: AlternateTitle[]
  seriesGroup: string
  storyArcs: StoryArc[]
  characters: string[]
  teams: string[]
  locations: string[]
  notes: string
  scanInformation: string
  identifiers: Identifier[]
  links: Link[]
}>

type Row = Pick<
  BookMetadata,
  | 'id'
  | 'title'
  | 'titleSort'
  | 'series'
  | 'number'
  | 'summary'
  | 'publisher'
  | 'imprint'
  | 'pageCount'
  | 'languageIso'
  | 'year'
  | 'month'
  | 'day'
  | 'volume'
  | 'chapter'
  | 'ageRating'
  | 'readingDirection'
  | 'createdAt'
  | 'updatedAt'
> & {
  isbn: string | null
  authors: Author[]
  genres: string[]
  tags: string[]
  locks: string[]
  more: More
}

/** By id of the book; hidden ones are left out. Two statements, whatever the number. */
export async function bookMetadataByIds(
  sql: Db,
  viewer: Viewer,
  ids: readonly string[],
): Promise<Map<string, BookMetadata>> {
  if (ids.length === 0) return new Map()
  const rows = await sql<Row[]>`
    select b.id, b.title, b.title_sort as "titleSort", coalesce(b.series_named, s.title) as series,
      b.number, b.summary, b.publisher, b.imprint, b.page_count as "pageCount",
      b.language as "languageIso", b.year, b.month, b.day, b.volume, b.chapter,
      b.age_rating as "ageRating", b.reading_direction as "readingDirection", b.isbn, b.authors,
      b.genres, b.tags, b.locks, b.more, b.created_at as "createdAt", b.updated_at as "updatedAt"
    from book b join series s on s.id = b.series_id
    where b.id = any(${ids as string[]}::uuid[]) and ${seesBook(sql, viewer)}`
  const labels = await labelsOf(sql, rows)
  return new Map(
    rows.map(({ more, locks, isbn, ...row }) => {
      const metadata = {
        ...row,
        bookId: row.id,
        genre: joined(row.genres),
        releaseDate: releaseDate(row),
        isbns: joined([...(isbn === null ? [] : [isbn]), ...(more.isbns ?? [])]),
        ...peopleOf(row.authors),
        ...moreOf(more),
        genres: labels('genre', row.genres),
        tags: labels('tag', row.tags),
        locks: shownLocks(bookFlags, locks),
      }
      return [row.id, metadata]
    }),
  )
}

/** Throws NotFound for a book that is not there or is hidden. */
export async function bookMetadata(sql: Db, viewer: Viewer, id: string): Promise<BookMetadata> {
  const metadata = (await bookMetadataByIds(sql, viewer, [id])).get(id)
  if (!metadata) throw new NotFound('Book not found')
  return metadata
}

function joined(names: string[]): string | null {
  return names.length === 0 ? null : names.join(', ')
}

function releaseDate({ year, month, day }: Pick<Row, 'year' | 'month' | 'day'>): string | null {
  if (year === null || month === null || day === null || year < 0) return null
  const date = new Date(Date.UTC(2000, month - 1, day))
  date.setUTCFullYear(year, month - 1, day)
  // The 31st of June is what some file says, and no date.
  return date.getUTCDate() === day ? date.toISOString().slice(0, 10) : null
}

function peopleOf(authors: Author[]) {
  const names = (field: keyof typeof roleFields) =>
    authors.flatMap(({ name, role }) => (role === roleFields[field] ? [name] : []))
  const singular = (field: keyof typeof roleFields) => joined(names(field))
  return {
    writers: names('writer'),
    pencillers: names('penciller'),
    inkers: names('inker'),
    colorists: names('colorist'),
    letterers: names('letterer'),
    coverArtists: names('coverArtist'),
    editors: names('editor'),
    writer: singular('writer'),
    penciller: singular('penciller'),
    inker: singular('inker'),
    colorist: singular('colorist'),
    letterer: singular('letterer'),
    coverArtist: singular('coverArtist'),
    editor: singular('editor'),
    translator: singular('translator'),
    authors,
  }
}

function moreOf(more: More) {
  return {
    count: more.count ?? null,
    formatDetail: more.format ?? null,
    blackAndWhite: more.blackAndWhite ?? null,
    manga: more.manga ?? null,
    bookType: more.bookType ?? null,
    subtitle: more.subtitle ?? null,
    edition: more.edition ?? null,
    originalTitle: more.originalTitle ?? null,
    originalYear: more.originalYear ?? null,
    seriesPosition: more.seriesPosition ?? null,
    seriesTotal: more.seriesTotal ?? null,
    subjects: more.subjects ?? [],
    awards: (more.awards ?? []).map(({ name, year = null, category = null, won }) => ({
      name,
      year,
      category,
      won,
    })),
    customMetadata: more.customMetadata ?? null,
    alternateTitles: more.alternateTitles ?? [],
    seriesGroup: more.seriesGroup ?? null,
    storyArcs: more.storyArcs ?? [],
    characters: more.characters ?? [],
    teams: more.teams ?? [],
    locations: more.locations ?? [],
    notes: more.notes ?? null,
    scanInformation: more.scanInformation ?? null,
    identifiers: more.identifiers ?? [],
    links: more.links ?? [],
  }
}
