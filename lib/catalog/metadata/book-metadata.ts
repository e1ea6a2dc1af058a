// Edits of book metadata by users. Every field a user sets is locked, so that reading the file again
// does not overwrite it.
import { isDeepStrictEqual } from 'node:util'
import type { Viewer } from '../../auth/viewer.ts'
import { publish, seriesEvents } from '../../event/publish.ts'
import { composedFields, plainFields, roleFields } from '../../metadata/book-fields.ts'
import { snakeCase } from '../../metadata/field.ts'
import { splitNames } from '../../metadata/user-input.ts'
import type { Author } from '../../metadata/values.ts'
import { sortKey } from '../../name/natural.ts'
import { sortNumber } from '../../name/number.ts'
import { searchKey } from '../../name/text.ts'
import type { Transaction } from '../../postgres/db.ts'
import { refreshEdited } from '../derived/refresh.ts'
import { normalizeLabelNames, registerLabels } from '../label/label.ts'
import { fromBookForUpdate } from '../locks.ts'
import { ownerNotFound } from '../owner.ts'
import type { ExtraMetadata } from './book-metadata-record.ts'
import { changedColumns, changeEvents, eventFields, publishChange } from './change-events.ts'
import { columnValue } from './columns.ts'
import { bookEdits, type Changes } from './edits.ts'
import { deleteAllExternalReferences } from './external-reference.ts'
import { applyLocks, bookLockFlags, lockChanges, withUserLocks } from './field-locks.ts'

export type BookForUpdate = {
  id: string
  libraryId: string
  seriesId: string
  title: string
  titleSort: string | null
  authors: Author[]
  genres: string[]
  extraMetadata: ExtraMetadata
  locks: string[]
  provenance: Record<string, string>
  isMissing: boolean
}

/** Locks the rows of a book and its series until the transaction ends. Throws NotFound, also for a hidden book. */
export async function lockBookRow(
  tx: Transaction,
  viewer: Viewer,
  id: string,
): Promise<BookForUpdate> {
  const [book] = await tx<BookForUpdate[]>`
    select b.id, b.library_id as "libraryId", b.series_id as "seriesId", b.title,
      b.title_sort as "titleSort", b.authors, b.genres, b.extra_metadata as "extraMetadata", b.locks, b.provenance,
      b.missing_at is not null as "isMissing"
    ${fromBookForUpdate(tx, viewer, id)}`
  if (!book) throw ownerNotFound('book')
  return book
}

type Columns = Record<string, unknown>

/** Stores changes (see parseChanges), locks their fields, refreshes derived state and publishes. Throws Invalid. */
export async function updateBookMetadata(
  tx: Transaction,
  book: BookForUpdate,
  changes: Changes,
): Promise<void> {
  if (changes.size === 0) return
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
  if (changes.has('genre'))
    columns.genres = await registeredGenres(tx, book, columns.genres as string[])
  const authors = updatedAuthors(book.authors, changes)
  if (authors) columns.authors = tx.json(authors)
  columns.extra_metadata = tx.json(extraMetadata as never)
  const changed = await store(tx, book, { changes, columns })
  const relabelled = await refreshEdited(tx, {
    seriesIds: [book.seriesId],
    bookIds: [book.id],
    columns: changed,
  })
  await publish(tx, [
    ...changeEvents(book, eventFields(changed)),
    ...relabelledEvents(book, relabelled, ['genres']),
  ])
}

/** Events of the series of a book, when its labels changed by those of the book. */
function relabelledEvents({ libraryId }: BookForUpdate, seriesIds: string[], fields: string[]) {
  return seriesEvents(
    'series_updated',
    seriesIds.map(id => ({ id, libraryId })),
    { fields },
  )
}

/** Returns the names of the columns that changed. */
async function store(
  tx: Transaction,
  book: BookForUpdate,
  { changes, columns }: { changes: Changes; columns: Columns },
) {
  const { title = book.title, title_sort: titleSort = book.titleSort } = columns as {
    title?: string
    title_sort?: string | null
  }
  const lockNames = [...changes.keys()].map(name => bookEdits[name as keyof typeof bookEdits].lock)
  const { locks, provenance } = withUserLocks(book, lockNames)
  if (changes.has('isbns')) provenance.isbns = 'user'
  const [row] = await tx<{ changed: string[] }[]>`
    update book b
    set ${tx(columns)}, sort_key = ${sortKey(titleSort ?? title)}, search_key = ${searchKey(title)},
      locks = ${locks}, provenance = ${tx.json(provenance)}, updated_at = now()
    from book old
    where b.id = ${book.id} and old.id = b.id
    returning ${changedColumns(tx, 'b', 'old')} as changed`
  return row!.changed
}

/** The first ISBN has a column, for lists and feeds; the others are a member of `extra_metadata`. */
function splitIsbns(columns: Columns, extraMetadata: Columns) {
  const [first = null, ...others] = (columns.isbn as string[] | null) ?? []
  columns.isbn = first
  if (others.length > 0) extraMetadata.isbns = others
  else delete extraMetadata.isbns
}

async function registeredGenres(tx: Transaction, book: BookForUpdate, requested: string[]) {
  const names = isTextOf(requested, book.genres) ? book.genres : normalizeLabelNames(requested)
  await registerLabels(tx, 'genre', names)
  return names
}

/** The authors after the changes; null when no change concerns authors. */
function updatedAuthors(current: Author[], changes: Changes): Author[] | null {
  const roles = Object.entries(roleFields).filter(([name]) => changes.has(name))
  if (roles.length === 0 && !changes.has('authors')) return null
  const list = changes.get('authors') as Author[] | null | undefined
  let authors = list === undefined ? current : (list ?? [])
  for (const [field, role] of roles) {
    const names = (changes.get(field) as string[] | null) ?? []
    const people = current.filter(author => author.role === role)
    const isUnchanged = isTextOf(
      names,
      people.map(({ name }) => name),
    )
    // A client that sends a whole record back, with a changed list, sends the unchanged texts, too.
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

/** Whether the parts of a text are those of `names` joined: a name with a comma comes back as two parts. */
function isTextOf(parts: readonly string[], names: readonly string[]): boolean {
  return isDeepStrictEqual(parts, splitNames(names.join(', ')))
}

/** Sets and clears locks by their flags. Returns all locks. */
export async function setBookLocks(
  tx: Transaction,
  book: BookForUpdate,
  flags: Readonly<Record<string, boolean | undefined>>,
): Promise<string[]> {
  const locks = applyLocks(book.locks, lockChanges(bookLockFlags, flags, book.locks))
  await tx`update book set locks = ${locks}, updated_at = now() where id = ${book.id}`
  await publishChange(tx, book, isDeepStrictEqual(locks, book.locks) ? [] : ['locks'])
  return locks
}

// A book is never without a title and an order: these stay until the file has been read.
const requiredColumns = ['title', 'title_sort', 'number']

const columnFields = Object.values({ ...plainFields, ...composedFields }).filter(
  field => field.sqlType !== null && !requiredColumns.includes(field.column),
)

/**
 * Deletes the values users set, and all locks but that of the cover. The caller enqueues reading the
 * file, which brings its values back.
 */
export async function resetBookMetadata(tx: Transaction, book: BookForUpdate): Promise<void> {
  const userSet = new Set(
    Object.keys(book.provenance).filter(name => book.provenance[name] === 'user'),
  )
  const cleared = columnFields
    .filter(({ column }) => userSet.has(column))
    .map(field => [field.column, columnValue(tx, field, field.empty)])
  const extraMetadata = Object.entries(book.extraMetadata).filter(
    ([name]) => !userSet.has(snakeCase(name)),
  )
  const provenance = Object.entries(book.provenance).filter(([name]) => !userSet.has(name))
  const columns = {
    ...Object.fromEntries(cleared),
    extra_metadata: tx.json(Object.fromEntries(extraMetadata) as never),
    locks: book.locks.filter(name => name === 'cover'),
    provenance: tx.json(Object.fromEntries(provenance)),
  }
  const [row] = await tx<{ changed: string[] }[]>`
    update book b set ${tx(columns)}, updated_at = now()
    from book old
    where b.id = ${book.id} and old.id = b.id
    returning ${changedColumns(tx, 'b', 'old')} as changed`
  await deleteAllExternalReferences(tx, { kind: 'book', id: book.id }, ['id', 'link'])
  const relabelled = await refreshEdited(tx, {
    seriesIds: [book.seriesId],
    bookIds: [book.id],
    columns: row!.changed,
  })
  await publish(tx, [
    ...changeEvents(book, ['metadata_reset']),
    ...relabelledEvents(book, relabelled, ['genres', 'tags']),
  ])
}
