// Field locks: their flags in the API and their names in the column `locks`, which are column names, because
// scans compare them with columns.

import { component, maybe, propertyNames, type Static, Type } from '../../base/schema.ts'
import { fileFields, roleFields, roleLock, userFields } from '../../media/metadata/book-fields.ts'
import type { Field } from '../../media/metadata/field.ts'
import { seriesFields } from '../../media/metadata/series-fields.ts'

/**
 * Flag in the API → name in `locks`. A name with a dot is part of a column (`authors.writer`): the column is
 * locked while any of its parts is, because the authors of a book are one list.
 */
type Flags = Readonly<Record<string, string>>

type FlagOf<F> = { [K in keyof F as `${K & string}Lock`]: string }

const bookFlagsOf = <F>(locks: F) =>
  Object.fromEntries(
    Object.entries(locks as Record<string, string>).map(([name, lock]) => [`${name}Lock`, lock]),
  ) as FlagOf<F>

const locksOf = <F extends Record<string, Field>>(fields: F) =>
  Object.fromEntries(Object.entries(fields).map(([name, { lock }]) => [name, lock])) as {
    [K in keyof F]: string
  }

const roleLocks = Object.fromEntries(
  Object.entries(roleFields).map(([name, role]) => [name, roleLock(role)]),
) as { [K in keyof typeof roleFields]: string }

export const bookLockFlags = {
  ...bookFlagsOf({ ...locksOf(fileFields), ...roleLocks, ...locksOf(userFields) }),
  authorsJsonLock: 'authors.all',
  awardsJsonLock: userFields.awards.lock,
  genreLock: 'genres',
  tagsLock: 'tags',
  isbnsLock: 'isbn',
  coverLock: 'cover',
}

const { authors, ...otherSeriesLocks } = locksOf(seriesFields)
export const seriesLockFlags = {
  ...otherSeriesLocks,
  authorsJsonLock: authors,
  genres: 'genres',
  tags: 'tags',
  cover: 'cover',
}

const flagSchemas = <F extends Flags>(flags: F) =>
  Object.fromEntries(Object.keys(flags).map(flag => [flag, Type.Boolean()])) as {
    [K in keyof F]: ReturnType<typeof Type.Boolean>
  }

const description = 'Whether scans leave the field unchanged.'
export const SeriesLocks = component('SeriesLocks', flagSchemas(seriesLockFlags), { description })
export const BookLocks = component('BookLocks', flagSchemas(bookLockFlags), {
  description: `${description} Authors are one list: while any of their flags is set, scans leave all of them unchanged.`,
})
export type SeriesLocks = Static<typeof SeriesLocks>
export type BookLocks = Static<typeof BookLocks>

/** The body of a request that sets and clears locks. */
export function locksBody<F extends Flags>(flags: F, component: string) {
  return Type.Unsafe<{ [K in keyof F]?: boolean }>(
    Type.Object(lockProperties(flags), { additionalProperties: false, component }),
  )
}

/** The body's properties: flags are accepted with and without `Lock`. */
export function lockProperties(flags: Flags) {
  const properties = Object.keys(flags).map(flag => {
    const alias = flag.endsWith('Lock') ? flag.slice(0, -4) : `${flag}Lock`
    return [flag, maybe(Type.Boolean({ aliases: propertyNames(alias, {}) }))] as const
  })
  return Object.fromEntries(properties)
}

/** All flags of a row. Rows without locks share one frozen object. */
export function lockFlagsOf<F extends Flags>(flags: F, locks: readonly string[]): LockFlags<F> {
  if (locks.length > 0) return readFlags(flags, locks)
  const known = unlocked.get(flags) ?? Object.freeze(readFlags(flags, []))
  unlocked.set(flags, known)
  return known as LockFlags<F>
}

type LockFlags<F extends Flags> = { [K in keyof F]: boolean }

const unlocked = new WeakMap<Flags, LockFlags<Flags>>()

function readFlags<F extends Flags>(flags: F, locks: readonly string[]) {
  const values = Object.entries(flags).map(([flag, name]) => [flag, isLocked(locks, name)])
  return Object.fromEntries(values) as LockFlags<F>
}

/** A column that was locked as a whole sets the flags of all its parts. */
function isLocked(locks: readonly string[], name: string): boolean {
  if (locks.includes(name)) return true
  const column = columnOf(name)
  return (
    name === `${column}.all` &&
    locks.includes(column) &&
    !locks.some(lock => lock.startsWith(`${column}.`))
  )
}

/** `authors.writer` → `authors`. */
export const columnOf = (name: string) => name.split('.', 1)[0]!

/** The locks of a row, sorted, after some names were locked (true) or unlocked (false). */
export function applyLocks(
  locks: readonly string[],
  changes: Iterable<readonly [name: string, isLocked: boolean]>,
) {
  const names = new Set(locks)
  const partlyLocked = new Set<string>()
  for (const [name, isLocked] of changes) {
    if (isLocked) names.add(name)
    else names.delete(name)
    if (name.includes('.')) partlyLocked.add(columnOf(name))
  }
  for (const column of partlyLocked) {
    names.delete(column)
    if ([...names].some(name => name.startsWith(`${column}.`))) names.add(column)
  }
  return [...names].sort()
}

/**
 * Converts the flags of a request to names; absent flags are left out. If two flags stand for one name, the one
 * that differs from the row counts: a client that sends a whole record back has changed only that one.
 */
export function lockChanges(
  flags: Flags,
  values: Readonly<Record<string, boolean | undefined>>,
  locks: readonly string[],
): ReadonlyMap<string, boolean> {
  const changes = new Map<string, boolean>()
  for (const [flag, value] of Object.entries(values)) {
    const name = flags[flag]!
    if (value === undefined) continue
    if (!changes.has(name) || value !== isLocked(locks, name)) changes.set(name, value)
  }
  return changes
}

/** Which fields of a row are locked, and who set them, by lock names. */
export type Marks = { locks: string[]; provenance: Record<string, string> }

/** Locks and provenance of a row after a user set the fields with these lock names. */
export function withUserLocks(row: Marks, names: readonly string[]): Marks {
  const locked = names.map(name => [name, true] as const)
  const origins: Record<string, string> = Object.fromEntries(
    names.map(name => [columnOf(name), 'user']),
  )
  return { locks: applyLocks(row.locks, locked), provenance: { ...row.provenance, ...origins } }
}
