// What users change of books. All that a user sets is locked, because no reading of the file may undo
// it.
import { isDeepStrictEqual } from 'node:util'
import type { TransactionSql } from 'postgres'
import { seesBook, type Viewer } from '../../auth/viewer.ts'
import { NotFound } from '../../errors.ts'
import { ofSeries, tell } from '../../event/publish.ts'
import type { Author } from '../../metadata/metadata.ts'
import { sortKey } from '../../name/natural.ts'
import { searchKey } from '../../name/normalise.ts'
import { sortNumber } from '../../name/number.ts'
import { registerLabels, settleLabels } from '../label/label.ts'
import { labelNames } from '../label/label-assignment.ts'
import { writeBookSearch, writeSeriesSearch } from '../search/search-rows.ts'
import { settleLowestAge } from '../series/lowest-age.ts'
import type { More } from './book-metadata-record.ts'
import { changedColumns, changeOf, fieldsOf, tellChange } from './change-events.ts'
import { bookFlags, wishesOf, withLocks } from './lock-names.ts'
import { bookFields, type Field, lockOf, roleFields, snake } from './metadata-fields.ts'
import { namesIn } from './metadata-values.ts'
import { claimed } from './series-metadata.ts'

export type HeldBook = {
  id: string
  libraryId: string
  seriesId: string
  title: string
  titleSort: string | null
  authors: Author[]
  genres: string[]
  more: More
  locks: string[]
  provenance: Record<string, string>
  isMissing: boolean
}

/** The row and its series', kept from others until the transaction ends. Throws NotFound, also for a hidden one. */
export async function holdBook(tx: TransactionSql, viewer: Viewer, id: string): Promise<HeldBook> {
  const [book] = await tx<HeldBook[]>`
    select b.id, b.library_id as "libraryId", b.series_id as "seriesId", b.title, b.title_sort as "titleSort", b.authors,
      b.genres, b.more, b.locks, b.provenance, b.missing_at is not null as "isMissing"
    from book b join series s on s.id = b.series_id
    where b.id = ${id} and ${seesBook(tx, viewer)}
    for no key update of b, s`
  if (!book) throw new NotFound('Book not found')
  return book
}

type Changes = ReadonlyMap<string, unknown>

/** Stores fields (see changesOf), locks them, makes sorting, searching and labels follow, and tells. Throws Invalid. */
export async function changeBook(
  tx: TransactionSql,
  book: HeldBook,
  changes: Changes,
): Promise<void> {
  if (changes.size === 0) return
  const columns: Record<string, unknown> = {}
  const more: Record<string, unknown> = { ...book.more }
  for (const [name, value] of changes) {
    const field: Field = bookFields[name as keyof typeof bookFields]
    const stored = value ?? field.empty ?? null
    if (field.column) columns[field.column] = stored
    else if (field.more && stored === null) delete more[field.more]
    else if (field.more) more[field.more] = stored
  }
  if (changes.has('isbns')) keepIsbns(columns, more)
  if (changes.has('number')) {
    const number = columns.number as string | null
    columns.number_sort = number === null ? null : sortNumber(number)
  }
  if (changes.has('genre')) {
    const said = columns.genres as string[]
    const names = isShown(said, book.genres) ? book.genres : labelNames(said)
    const canonical = await registerLabels(tx, 'genre', names)
    columns.genres = [...new Set(names.map(name => canonical.get(name)!))]
  }
  const authors = authorsAfter(book.authors, changes)
  if (authors) columns.authors = tx.json(authors)
  const all = { ...columns, more: tx.json(more as never) }
  const changed = await store(tx, book, { changes, columns: all })
  const series = changes.has('genre') ? await settleLabels(tx, [book.seriesId]) : []
  if (changes.has('ageRating')) await settleLowestAge(tx, [book.seriesId])
  await writeBookSearch(tx, [book.id])
  if (authors || changes.has('genre')) await writeSeriesSearch(tx, [book.seriesId])
  await tell(tx, [...changeOf(book, fieldsOf(changed)), ...labelled(book, series, ['genres'])])
}

/** That the series of a book got other labels by it. */
function labelled({ libraryId }: HeldBook, series: string[], fields: string[]) {
  return ofSeries(
    'series_updated',
    series.map(id => ({ id, libraryId })),
    { fields },
  )
}

type Storing = { changes: Changes; columns: Record<string, unknown> }

/** Answers the names of the columns that differ now. */
async function store(tx: TransactionSql, book: HeldBook, { changes, columns }: Storing) {
  const { title = book.title, title_sort: titleSort = book.titleSort } = columns as {
    title?: string
    title_sort?: string | null
  }
  const names = [...changes.keys()].map(name => lockOf(bookFields[name as keyof typeof bookFields]))
  const { locks, provenance } = claimed(book, names)
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

// The column holds one, which is what lists and feeds show; the others stand beside it.
function keepIsbns(columns: Record<string, unknown>, more: Record<string, unknown>) {
  const [first = null, ...others] = (columns.isbn as string[] | null) ?? []
  columns.isbn = first
  if (others.length > 0) more.isbns = others
  else delete more.isbns
}

/** The people of a book after the changes; null when they say nothing of people. */
function authorsAfter(before: Author[], changes: Changes): Author[] | null {
  const roles = Object.entries(roleFields).filter(([name]) => changes.has(name))
  if (roles.length === 0 && !changes.has('authors')) return null
  const given = changes.get('authors') as Author[] | null | undefined
  let authors = given === undefined ? before : (given ?? [])
  for (const [field, role] of roles) {
    const names = (changes.get(field) as string[] | null) ?? []
    const people = before.filter(author => author.role === role)
    const isSame = isShown(names, namesOf(people))
    // A whole record that is sent back has the texts of before beside the list that was changed.
    if (isSame && given) continue
    const known = new Map([...before, ...authors].map(author => [author.name, author.sortName]))
    authors = [
      ...authors.filter(author => author.role !== role),
      ...(isSame ? people : names.map(name => ({ name, role, sortName: known.get(name) ?? null }))),
    ]
  }
  return authors
}

const namesOf = (people: Author[]) => people.map(({ name }) => name)

/** Whether the names of a text are those of the list it is shown for: one with a comma inside comes back as two. */
function isShown(said: readonly string[], names: readonly string[]): boolean {
  return isDeepStrictEqual(said, namesIn(names.join(', ')))
}

/** Sets and takes off locks by their flags; answers all locks. */
export async function lockBook(
  tx: TransactionSql,
  book: HeldBook,
  flags: Readonly<Record<string, boolean | undefined>>,
): Promise<string[]> {
  const locks = withLocks(book.locks, wishesOf(bookFlags, flags))
  await tx`update book set locks = ${locks}, updated_at = now() where id = ${book.id}`
  await tellChange(tx, book, isDeepStrictEqual(locks, book.locks) ? [] : ['locks'])
  return locks
}

// Every book has a title, and its order hangs on it: they stay until the file was read.
const kept = ['title', 'title_sort', 'number']

/**
 * Drops what users set, and all locks but that of the cover. What the file says in its place is there
 * once it was read again, which is the caller's to ask for.
 */
export async function resetBook(tx: TransactionSql, book: HeldBook): Promise<void> {
  const users = Object.keys(book.provenance).filter(name => book.provenance[name] === 'user')
  const dropped = Object.values<Field>(bookFields).flatMap(({ column, empty = null, json }) => {
    if (!column || kept.includes(column) || !users.includes(column)) return []
    return [[column, json ? tx.json(empty as never) : empty] as const]
  })
  const more = Object.fromEntries(
    Object.entries(book.more).filter(([name]) => !users.includes(snake(name))),
  )
  const columns = {
    ...Object.fromEntries(dropped),
    ...(users.includes('tags') ? { tags: [] } : {}),
    more: tx.json(more as never),
    locks: book.locks.filter(name => name === 'cover'),
    provenance: tx.json(
      Object.fromEntries(Object.entries(book.provenance).filter(([name]) => !users.includes(name))),
    ),
  }
  await tx`update book set ${tx(columns)}, updated_at = now() where id = ${book.id}`
  await tx`delete from book_link where book_id = ${book.id}`
  await tx`delete from book_external_id where book_id = ${book.id}`
  const series = await settleLabels(tx, [book.seriesId])
  await settleLowestAge(tx, [book.seriesId])
  await writeBookSearch(tx, [book.id])
  await writeSeriesSearch(tx, [book.seriesId])
  await tell(tx, [
    ...changeOf(book, ['metadata_reset']),
    ...labelled(book, series, ['genres', 'tags']),
  ])
}
