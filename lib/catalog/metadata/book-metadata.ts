// Edits of book metadata by users. Every field that a user sets is locked, so that rereading the file does not
// overwrite it.
import { isDeepStrictEqual } from 'node:util'
import type { Viewer } from '../../accounts/viewer.ts'
import { composedFields, plainFields, roleFields } from '../../media/metadata/book-fields.ts'
import { type Fields, snakeCase } from '../../media/metadata/field.ts'
import { fileSources } from '../../media/metadata/metadata.ts'
import { splitNames } from '../../media/metadata/user-input.ts'
import type { Author } from '../../media/metadata/values.ts'
import { sortKey } from '../../media/name/natural.ts'
import { sortNumber } from '../../media/name/number.ts'
import { searchKey } from '../../media/name/text.ts'
import { type NewEvent, publish, seriesEvents } from '../../store/event/publish.ts'
import type { Transaction } from '../../store/postgres/db.ts'
import { refreshEdited } from '../derived/refresh.ts'
import { normalizeLabelNames, registerLabels } from '../label/label.ts'
import { found } from '../owner.ts'
import { fromBooksForUpdate } from '../row-locks.ts'
import type { ExtraMetadata } from './book-metadata-record.ts'
import { changeEvents, eventFields, publishChanges } from './change-events.ts'
import { type ColumnTypes, editedColumns, type RowValues, updateRows } from './columns.ts'
import { bookEdits, type Changes } from './edits.ts'
import { deleteAllExternalReferences } from './external-reference.ts'
import { applyLocks, bookLockFlags, lockChanges, type Marks, withUserLocks } from './field-locks.ts'

export type BookForUpdate = {
  id: string
  libraryId: string
  seriesId: string
  title: string
  titleSort: string | null
  authors: Author[]
  genres: string[]
  tags: string[]
  extraMetadata: ExtraMetadata
  locks: string[]
  provenance: Record<string, string>
  isMissing: boolean
}

/** Locks the rows of books and their series until the transaction ends; hidden and unknown ones are left out. */
export async function lockBookRows(tx: Transaction, viewer: Viewer, ids: readonly string[]) {
  const lock = async (wanted: readonly string[]) =>
    await tx<BookForUpdate[]>`
    select b.id, b.library_id as "libraryId", b.series_id as "seriesId", b.title,
      b.title_sort as "titleSort", b.authors, b.genres, b.tags,
      b.extra_metadata as "extraMetadata", b.locks, b.provenance,
      b.missing_at is not null as "isMissing"
    ${fromBooksForUpdate(tx, viewer, wanted)}`
  const books = await lock(ids)
  // A book that moved to another series while waiting for the lock is found the second time.
  const found = new Set(books.map(({ id }) => id))
  const missed = ids.filter(id => !found.has(id))
  return missed.length === 0 ? [...books] : [...books, ...(await lock(missed))]
}

/** Like `lockBookRows`, for one. Throws NotFound. */
export async function lockBookRow(tx: Transaction, viewer: Viewer, id: string) {
  return found('book', (await lockBookRows(tx, viewer, [id]))[0])
}

type Columns = Record<string, unknown>

/**
 * Stores changes (see parseChanges) of books, the same fields for all of them; locks these fields,
 * refreshes derived state and publishes. Throws Invalid.
 */
export async function updateBookMetadata(
  tx: Transaction,
  books: readonly BookForUpdate[],
  changesOf: (book: BookForUpdate) => Changes,
): Promise<void> {
  const { changed, relabeled } = await storeBookChanges(tx, books, {
    changesOf,
    marksOf: withUserLocks,
  })
  await publish(tx, [
    ...changeEvents(books, ({ id }) => eventFields(changed.get(id) ?? [])),
    ...relabeled,
  ])
}

type MarksOf = (book: BookForUpdate, lockNames: readonly string[]) => Marks
type BookChanges = { changesOf: (book: BookForUpdate) => Changes; marksOf: MarksOf }

/**
 * Like `updateBookMetadata`, with other locks and provenance. Publishes nothing: returns the changed columns by book,
 * and the events of series whose labels changed as a result.
 */
export async function storeBookChanges(
  tx: Transaction,
  books: readonly BookForUpdate[],
  { changesOf, marksOf }: BookChanges,
): Promise<{ changed: Map<string, string[]>; relabeled: NewEvent[] }> {
  const rows = books.map(book => rowOf(book, changesOf(book), marksOf))
  const names = Object.keys(rows[0] ?? {}).filter(name => name !== 'id')
  if (names.length === 0) return { changed: new Map(), relabeled: [] }
  const genres = rows.flatMap(row => (row.genres as string[] | undefined) ?? [])
  await registerLabels(tx, 'genre', genres)
  const columns = Object.fromEntries(names.map(name => [name, columnTypes[name]!]))
  const changed = await updateRows(tx, 'book', { columns, rows })
  const relabeled = await refreshEdited(tx, {
    seriesIds: [...new Set(books.map(({ seriesId }) => seriesId))],
    bookIds: [...changed.keys()],
    columns: [...new Set([...changed.values()].flat())],
  })
  return { changed, relabeled: relabeledEvents(books, relabeled, ['genres']) }
}

/** Types of the columns that edits of books change. */
const columnTypes: ColumnTypes = {
  ...editedColumns,
  ...{ number_sort: 'double precision', extra_metadata: 'jsonb' },
  ...Object.fromEntries(
    Object.values({ ...plainFields, ...composedFields } as Fields).flatMap(({ column, sqlType }) =>
      sqlType === null ? [] : [[column, sqlType]],
    ),
  ),
}

/** Events of series whose labels changed because their books' labels did. */
function relabeledEvents(books: readonly BookForUpdate[], seriesIds: string[], fields: string[]) {
  const series = new Map(
    books.map(({ seriesId, libraryId }) => [seriesId, { id: seriesId, libraryId }]),
  )
  return seriesEvents(
    'series_updated',
    seriesIds.flatMap(id => series.get(id) ?? []),
    { fields },
  )
}

/** Values of the changed columns; if nothing changed, only the id. */
function rowOf(book: BookForUpdate, changes: Changes, marksOf: MarksOf): RowValues {
  if (changes.size === 0) return { id: book.id }
  const columns: Columns = {}
  const extraMetadata: Columns = { ...book.extraMetadata }
  for (const [name, value] of changes) {
    const { storage } = bookEdits[name as keyof typeof bookEdits]
    if (storage === null) continue
    const stored = value ?? storage.empty
    if (storage.sqlType !== null) columns[storage.column] = stored
    else if (value === null) delete extraMetadata[storage.member]
    else extraMetadata[storage.member] = stored
  }
  if (changes.has('isbns')) splitIsbns(columns, extraMetadata)
  if (changes.has('number')) {
    const number = columns.number as string | null
    columns.number_sort = number === null ? null : sortNumber(number)
  }
  if (changes.has('genre')) columns.genres = normalizedGenres(book, columns.genres as string[])
  const authors = updatedAuthors(book.authors, changes)
  if (authors) columns.authors = authors
  const { title = book.title, title_sort: titleSort = book.titleSort } = columns as {
    title?: string
    title_sort?: string | null
  }
  const lockNames = [...changes.keys()].map(name => bookEdits[name as keyof typeof bookEdits].lock)
  const { locks, provenance } = withIsbns(marksOf(book, lockNames))
  return {
    ...columns,
    ...{ id: book.id, extra_metadata: extraMetadata, locks, provenance },
    sort_key: sortKey(titleSort ?? title),
    search_key: searchKey(title),
  }
}

/** All but the first ISBN have the same origin in `extra_metadata`. */
function withIsbns({ locks, provenance: { isbns: _, ...provenance } }: Marks): Marks {
  const { isbn } = provenance
  return { locks, provenance: isbn === undefined ? provenance : { ...provenance, isbns: isbn } }
}

/** The first ISBN has a column, for lists and feeds; the others are in `extra_metadata`. */
function splitIsbns(columns: Columns, extraMetadata: Columns) {
  const [first = null, ...others] = (columns.isbn as string[] | null) ?? []
  columns.isbn = first
  if (others.length > 0) extraMetadata.isbns = others
  else delete extraMetadata.isbns
}

function normalizedGenres(book: BookForUpdate, requested: string[]) {
  return isTextOf(requested, book.genres) ? book.genres : normalizeLabelNames(requested)
}

/** The authors after the changes; null when none of the changes affects authors. */
function updatedAuthors(current: Author[], changes: Changes): Author[] | null {
  const roles = Object.entries(roleFields).filter(([name]) => changes.has(name))
  if (roles.length === 0 && !changes.has('authors')) return null
  const list = changes.get('authors') as Author[] | null | undefined
  let authors = list === undefined ? current : (list ?? [])
  for (const [field, role] of roles) {
    const names = (changes.get(field) as string[] | null) ?? []
    const people = current.filter(author => author.role === role)
    const currentNames = people.map(({ name }) => name)
    const isUnchanged = isTextOf(names, currentNames)
    // A client that sends a whole record back with a changed list also sends the unchanged texts.
    if (isUnchanged && list) continue
    const sortNames = new Map(
      [...current, ...authors].map(({ name, sortName }) => [name, sortName]),
    )
    authors = [
      ...authors.filter(author => author.role !== role),
      ...(isUnchanged
        ? people
        : names.map(name => ({ name, role, sortName: sortNames.get(name) ?? null }))),
    ]
  }
  return authors
}

/** Whether a text consists of `names` joined: a name with a comma comes back as two parts. */
function isTextOf(parts: readonly string[], names: readonly string[]): boolean {
  return isDeepStrictEqual(parts, splitNames(names.join(', ')))
}

/** Sets and clears locks by their flags. Returns all locks by book. */
export async function setBookLocks(
  tx: Transaction,
  books: readonly BookForUpdate[],
  flags: Readonly<Record<string, boolean | undefined>>,
): Promise<Map<string, string[]>> {
  const edits = books.map(book => {
    const locks = applyLocks(book.locks, lockChanges(bookLockFlags, flags, book.locks))
    return { ...book, before: book.locks, locks }
  })
  await updateRows(tx, 'book', {
    columns: { locks: 'text[]' },
    rows: edits.map(({ id, locks }) => ({ id, locks })),
  })
  await publishChanges(tx, edits, ({ before, locks }) =>
    isDeepStrictEqual(locks, before) ? [] : ['locks'],
  )
  return new Map(edits.map(({ id, locks }) => [id, locks]))
}

// A book always has a title and an order: these stay until the file has been read.
const requiredColumns = ['title', 'title_sort', 'number']

const columnFields = Object.values({ ...plainFields, ...composedFields } as Fields).filter(
  field => field.sqlType !== null && !requiredColumns.includes(field.column),
)

/**
 * Deletes the values set by users and metadata sources, and all locks except the cover's. The caller enqueues reading the files,
 * which restores their values.
 */
export async function resetBookMetadata(tx: Transaction, books: readonly BookForUpdate[]) {
  const ids = books.map(({ id }) => id)
  const current = await tx<{ id: string; row: Columns }[]>`
    select b.id, to_jsonb(b) as row from book b where b.id = any(${ids}::uuid[])`
  const rowById = new Map(current.map(({ id, row }) => [id, row]))
  const types = columnFields.map(({ column }) => [column, columnTypes[column]!])
  const changed = await updateRows(tx, 'book', {
    columns: {
      ...(Object.fromEntries(types) as ColumnTypes),
      ...{ extra_metadata: 'jsonb', locks: 'text[]', provenance: 'jsonb' },
    },
    rows: books.map(book => resetRow(book, rowById.get(book.id)!)),
  })
  await deleteAllExternalReferences(tx, { kind: 'book', ids }, ['id', 'link'])
  const relabeled = await refreshEdited(tx, {
    seriesIds: [...new Set(books.map(({ seriesId }) => seriesId))],
    bookIds: ids,
    columns: [...new Set([...changed.values()].flat())],
  })
  await publish(tx, [
    ...changeEvents(books, () => ['metadata_reset']),
    ...relabeledEvents(books, relabeled, ['genres', 'tags']),
  ])
}

const isFileSource = (origin: string) => (fileSources as readonly string[]).includes(origin)

function resetRow(book: BookForUpdate, current: Columns): RowValues {
  const isOfFile = (name: string) =>
    !(name in book.provenance) || isFileSource(book.provenance[name]!)
  const columns = columnFields.map(({ column, empty }) => [
    column,
    isOfFile(column) ? current[column] : empty,
  ])
  const without = (values: object, nameOf: (name: string) => string) =>
    Object.fromEntries(Object.entries(values).filter(([name]) => isOfFile(nameOf(name))))
  return {
    ...Object.fromEntries(columns),
    id: book.id,
    extra_metadata: without(book.extraMetadata, snakeCase),
    locks: book.locks.filter(name => name === 'cover'),
    provenance: without(book.provenance, name => name),
  }
}
