// API record of book metadata.
import type { Viewer } from '../../accounts/viewer.ts'
import { jsonText } from '../../base/json/json-text.ts'
import {
  component,
  count,
  list,
  nullable,
  type Static,
  Type,
  timestamp,
  uuid,
} from '../../base/schema.ts'
import { plainFields, roleFields } from '../../media/metadata/book-fields.ts'
import {
  type ColumnRow,
  type ExtraMetadataRow,
  type Fields,
  type Members,
  schemasOf,
} from '../../media/metadata/field.ts'
import { Author } from '../../media/metadata/values.ts'
import type { Queryable } from '../../store/postgres/db.ts'
import { fromVisibleBooks } from '../book/visible-books.ts'
import { Label, loadLabels } from '../label/label.ts'
import { found } from '../owner.ts'
import { selectColumns } from './columns.ts'
import { BookLocks, bookLockFlags, lockFlagsOf } from './field-locks.ts'

const names = () => list(Type.String())
const joinedNames = (role: string) =>
  nullable(Type.String({ description: `Names of the ${role}s, separated by commas.` }))

export const BookMetadata = component('BookMetadata', {
  id: uuid({ description: 'Book id.' }),
  bookId: uuid(),
  ...schemasOf(plainFields),
  series: Type.String({ description: 'From the file, otherwise the title of its series.' }),
  genre: nullable(Type.String({ description: 'All genres, separated by commas.' })),
  pageCount: count(),
  releaseDate: nullable(
    Type.String({ format: 'date', description: 'Null unless year, month and day are known.' }),
  ),
  isbns: nullable(Type.String({ description: 'All ISBNs, separated by commas.' })),
  writers: names(),
  pencillers: names(),
  inkers: names(),
  colorists: names(),
  letterers: names(),
  coverArtists: names(),
  editors: names(),
  writer: joinedNames('writer'),
  penciller: joinedNames('penciller'),
  inker: joinedNames('inker'),
  colorist: joinedNames('colorist'),
  letterer: joinedNames('letterer'),
  coverArtist: joinedNames('cover artist'),
  editor: joinedNames('editor'),
  translator: joinedNames('translator'),
  authors: list(Author),
  genres: list(Label),
  tags: list(Label),
  locks: BookLocks,
  createdAt: timestamp(),
  updatedAt: timestamp(),
})
export type BookMetadata = Static<typeof BookMetadata>

/** The jsonb column `extra_metadata`: fields without a column, by member. */
export type ExtraMetadata = Partial<Omit<Members<typeof plainFields>, 'customMetadata'>> & {
  /** JSON. */
  customMetadata?: string
  /** All except the first, which has a column. */
  isbns?: string[]
}

type Row = ColumnRow<typeof plainFields> &
  Pick<BookMetadata, 'id' | 'series' | 'pageCount' | 'authors' | 'createdAt' | 'updatedAt'> & {
    isbn: string | null
    genres: string[]
    tags: string[]
    locks: string[]
    extraMetadata: ExtraMetadata
  }

/** Metadata by book id, without hidden books, in two statements. */
export async function bookMetadataByIds(
  sql: Queryable,
  viewer: Viewer,
  ids: readonly string[],
): Promise<Map<string, BookMetadata>> {
  if (ids.length === 0) return new Map()
  const rows = await sql<Row[]>`
    select b.id, ${selectColumns(sql, plainFields, 'b')},
      coalesce(b.embedded_series, s.title) as series, b.page_count as "pageCount", b.isbn, b.authors,
      b.genres, b.tags, b.locks, b.extra_metadata as "extraMetadata", b.created_at as "createdAt", b.updated_at as "updatedAt"
    ${fromVisibleBooks(sql, viewer, { ids })}`
  const labels = await loadLabels(sql, viewer, rows)
  return new Map(
    rows.map(({ extraMetadata, locks, isbn, ...row }) => {
      const metadata = {
        ...row,
        ...extraFields(extraMetadata),
        bookId: row.id,
        genre: joined(row.genres),
        releaseDate: releaseDate(row),
        isbns: joined([...(isbn === null ? [] : [isbn]), ...(extraMetadata.isbns ?? [])]),
        ...people(row.authors),
        genres: labels(row, 'genre'),
        tags: labels(row, 'tag'),
        locks: lockFlagsOf(bookLockFlags, locks),
      }
      return [row.id, metadata]
    }),
  )
}

/** Throws NotFound for an unknown or hidden book. */
export async function bookMetadata(sql: Queryable, viewer: Viewer, id: string) {
  return found('book', (await bookMetadataByIds(sql, viewer, [id])).get(id))
}

function joined(names: string[]): string | null {
  return names.length === 0 ? null : names.join(', ')
}

function releaseDate({ year, month, day }: Pick<Row, 'year' | 'month' | 'day'>): string | null {
  if (year === null || month === null || day === null || year < 0) return null
  const date = new Date(Date.UTC(2000, month - 1, day))
  date.setUTCFullYear(year, month - 1, day)
  // Some files state dates that do not exist, such as June 31.
  return date.getUTCDate() === day ? date.toISOString().slice(0, 10) : null
}

function people(authors: Author[]) {
  const names = Map.groupBy(authors, ({ role }) => role)
  const namesOf = (field: keyof typeof roleFields) =>
    names.get(roleFields[field])?.map(({ name }) => name) ?? []
  const joinedNamesOf = (field: keyof typeof roleFields) => joined(namesOf(field))
  return {
    writers: namesOf('writer'),
    pencillers: namesOf('penciller'),
    inkers: namesOf('inker'),
    colorists: namesOf('colorist'),
    letterers: namesOf('letterer'),
    coverArtists: namesOf('coverArtist'),
    editors: namesOf('editor'),
    writer: joinedNamesOf('writer'),
    penciller: joinedNamesOf('penciller'),
    inker: joinedNamesOf('inker'),
    colorist: joinedNamesOf('colorist'),
    letterer: joinedNamesOf('letterer'),
    coverArtist: joinedNamesOf('coverArtist'),
    editor: joinedNamesOf('editor'),
    translator: joinedNamesOf('translator'),
    authors,
  }
}

const extraMembers = Object.entries(plainFields as Fields).filter(
  ([, { sqlType }]) => sqlType === null,
)
const extraNames = new Map(extraMembers.map(([name, { member }]) => [member, name]))
const emptyExtra = Object.fromEntries(extraMembers.map(([name, { empty }]) => [name, empty]))

/** Checked one by one: most books have few of these members. */
function extraFields(extraMetadata: ExtraMetadata) {
  const fields: Record<string, unknown> = { ...emptyExtra }
  for (const [member, value] of Object.entries(extraMetadata)) {
    const name = extraNames.get(member)
    if (name === undefined || value === null) continue
    fields[name] = name === 'customMetadata' ? jsonText(value as string) : value
  }
  return fields as ExtraMetadataRow<typeof plainFields>
}
