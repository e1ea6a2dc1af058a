// Metadata changes of the Komga-compatible API, converted to changes and locks of the catalog.
import type { Viewer } from '../../accounts/viewer.ts'
import { Invalid } from '../../base/errors.ts'
import {
  type BookForUpdate,
  lockBookRow,
  lockBookRows,
  setBookLocks,
  updateBookMetadata,
} from '../../catalog/metadata/book-metadata.ts'
import { publishChange } from '../../catalog/metadata/change-events.ts'
import { bookEdits, type Changes, parseChanges, seriesEdits } from '../../catalog/metadata/edits.ts'
import {
  lockSeriesRow,
  setSeriesLocks,
  updateSeriesMetadata,
} from '../../catalog/metadata/series-metadata.ts'
import { type Owner, ownerNotFound } from '../../catalog/owner.ts'
import { checkStorable } from '../../media/metadata/user-input.ts'
import type { Author } from '../../media/metadata/values.ts'
import type { Sql, Transaction } from '../../store/postgres/db.ts'
import { retryOnDeadlock } from '../../store/postgres/retry-on-deadlock.ts'
import { type Link, setLabels, setLinks, setSharingLabels } from './metadata-references.ts'
import { directionNames, storedRole } from './values.ts'

/** Absent members are unchanged, null clears. */
type Edit<N extends string, T> = { [name in N]?: T | null }
/** By field name. */
type Locks = Readonly<Record<string, boolean>>

export type BookEdit = Edit<'title' | 'summary' | 'number' | 'releaseDate' | 'isbn', string> & {
  numberSort?: number | null
  authors?: { name: string; role: string }[] | null
  tags?: string[] | null
  links?: Link[] | null
  locks: Locks
}
export const bookLocks = {
  title: 'titleLock',
  summary: 'summaryLock',
  number: 'numberLock',
  numberSort: 'numberLock',
  releaseDate: 'yearLock',
  authors: 'authorsJsonLock',
  tags: 'tagsLock',
  isbn: 'isbnsLock',
  links: null,
} as const

type SeriesText = 'title' | 'titleSort' | 'summary' | 'publisher' | 'language'
export type SeriesEdit = Edit<SeriesText | 'status' | 'readingDirection', string> &
  Edit<'ageRating' | 'totalBookCount', number> &
  Edit<'genres' | 'tags' | 'sharingLabels', string[]> & {
    links?: Link[] | null
    alternateTitles?: { label: string; title: string }[] | null
    locks: Locks
  }
export const seriesLocks = {
  title: 'title',
  titleSort: 'titleSort',
  summary: 'summary',
  status: 'status',
  readingDirection: 'readingDirection',
  publisher: 'publisher',
  ageRating: 'ageRating',
  language: 'language',
  genres: 'genres',
  tags: 'tags',
  totalBookCount: 'totalVolumeCount',
  sharingLabels: null,
  links: null,
  alternateTitles: 'alternateTitles',
} as const

/** Changes all books or none, each once. Throws NotFound, Invalid. */
export async function editBooks(
  sql: Sql,
  viewer: Viewer,
  requests: readonly { id: string; edit: BookEdit }[],
): Promise<void> {
  const edits = requests.map(({ id, edit }) => {
    checkStorable(edit)
    return { id, edit, changes: bookChanges(edit) }
  })
  await retryOnDeadlock(sql, async tx => {
    const ids = edits.map(({ id }) => id)
    const books = new Map((await lockBookRows(tx, viewer, ids)).map(book => [book.id, book]))
    if (ids.some(id => !books.has(id))) throw ownerNotFound('book')
    for (const { id, ...change } of edits) await editBook(tx, viewer, books.get(id)!, change)
  })
}

async function editBook(
  tx: Transaction,
  viewer: Viewer,
  book: BookForUpdate,
  { edit, changes }: { edit: BookEdit; changes: Changes },
) {
  const { id } = book
  const owner: Owner = { kind: 'book', id }
  const all = new Map(changes)
  if (edit.authors !== undefined) all.set('authors', namedAuthors(edit.authors, book.authors))
  await updateBookMetadata(tx, [book], () => all)
  if (edit.tags !== undefined) await setLabels(tx, viewer, owner, 'tag', edit.tags)
  if (edit.links !== undefined) {
    await setLinks(tx, owner, edit.links)
    // Otherwise the links from the file would return with its next analysis.
    await tx`
      update book set extra_metadata = extra_metadata - 'links',
        locks = array_remove(locks, 'links') || '{links}'::text[], updated_at = now()
      where id = ${id}`
    await publishChange(tx, book, ['external_links'])
  }
  const flags = lockFlags(bookLocks, edit.locks)
  if (Object.keys(flags).length > 0)
    await setBookLocks(tx, [await lockBookRow(tx, viewer, id)], flags)
  await setPlainLocks(tx, owner, plainLocks(bookLocks, edit.locks))
}

/** Throws NotFound, Invalid. */
export async function editSeries(
  sql: Sql,
  viewer: Viewer,
  { id, edit }: { id: string; edit: SeriesEdit },
): Promise<void> {
  checkStorable(edit)
  const changes = seriesChanges(edit)
  const owner: Owner = { kind: 'series', id }
  await retryOnDeadlock(sql, async tx => {
    const series = await lockSeriesRow(tx, viewer, id)
    await updateSeriesMetadata(tx, [series], () => changes)
    if (edit.genres !== undefined) await setLabels(tx, viewer, owner, 'genre', edit.genres)
    if (edit.tags !== undefined) await setLabels(tx, viewer, owner, 'tag', edit.tags)
    if (edit.links !== undefined) {
      await setLinks(tx, owner, edit.links)
      await setPlainLocks(tx, owner, [{ name: 'links', isLocked: true }])
      await publishChange(tx, series, ['external_links'])
    }
    if (edit.sharingLabels !== undefined)
      await setSharingLabels(tx, series, edit.sharingLabels ?? [])
    const flags = lockFlags(seriesLocks, edit.locks)
    if (Object.keys(flags).length > 0)
      await setSeriesLocks(tx, [await lockSeriesRow(tx, viewer, id)], flags)
    await setPlainLocks(tx, owner, plainLocks(seriesLocks, edit.locks))
  })
}

function bookChanges({ title, summary, number, numberSort, releaseDate, isbn }: BookEdit): Changes {
  const sorted = number === undefined && numberSort != null ? String(numberSort) : number
  const date = releaseDate == null ? null : parseDate(releaseDate)
  return parseChanges(
    bookEdits,
    {
      ...{ title, summary, number: sorted, isbns: isbn },
      ...(releaseDate === undefined
        ? {}
        : { year: date?.year ?? null, month: date?.month ?? null, day: date?.day ?? null }),
    },
    'patch',
  )
}

function seriesChanges(edit: SeriesEdit): Changes {
  const { title, titleSort, summary, publisher, ageRating, language, alternateTitles } = edit
  const { status, readingDirection: direction, totalBookCount } = edit
  return parseChanges(
    seriesEdits,
    {
      ...{ title, titleSort, summary, publisher, ageRating, language, alternateTitles },
      status: status?.toLowerCase(),
      readingDirection: direction == null ? direction : directionOf(direction),
      totalVolumeCount: totalBookCount,
    },
    'patch',
  )
}

function directionOf(name: string): string {
  const found = Object.entries(directionNames).find(([, value]) => value === name)
  if (!found) throw new Invalid('body/readingDirection is unknown')
  return found[0]
}

function parseDate(text: string) {
  const [, year, month, day] = /^(\d{4})-(\d\d)-(\d\d)/.exec(text) ?? []
  const isDate = Number(month) >= 1 && Number(month) <= 12 && Number(day) >= 1 && Number(day) <= 31
  if (year === undefined || !isDate) throw new Invalid('body/releaseDate must be a date')
  return { year: Number(year), month: Number(month), day: Number(day) }
}

const maxAuthors = 500

/** Any role is accepted: files also have roles that the catalog does not offer. */
function namedAuthors(authors: BookEdit['authors'], current: readonly Author[]): Author[] {
  if ((authors ?? []).length > maxAuthors)
    throw new Invalid(`body/authors must not have more than ${maxAuthors} items`)
  const sortNames = new Map(current.map(({ name, sortName }) => [name, sortName]))
  return (authors ?? []).map(({ name, role }) => {
    const trimmed = name.trim()
    if (trimmed === '') throw new Invalid('body/authors must have names')
    return {
      name: trimmed,
      role: storedRole(role) || null,
      sortName: sortNames.get(trimmed) ?? null,
    }
  })
}

type Flags = Readonly<Record<string, string | null>>

/** Locks by their catalog flags. */
const lockFlags = (flags: Flags, locks: Locks) =>
  Object.fromEntries(
    Object.entries(locks).flatMap(([name, value]) => (flags[name] ? [[flags[name], value]] : [])),
  )

/** Locks without a flag: scans never change these fields, but clients read their locks back. */
const plainLocks = (flags: Flags, locks: Locks) =>
  Object.entries(locks).flatMap(([name, isLocked]) =>
    flags[name] ? [] : [{ name: name === 'links' ? name : 'sharing_labels', isLocked }],
  )

async function setPlainLocks(
  tx: Transaction,
  { kind, id }: Owner,
  locks: readonly { name: string; isLocked: boolean }[],
) {
  for (const { name, isLocked } of locks) {
    const without = tx`array_remove(locks, ${name})`
    await tx`
      update ${tx(kind)} set locks = ${isLocked ? tx`${without} || ${[name]}::text[]` : without}
      where id = ${id}`
  }
}
