// Vocabulary of the Komga-compatible API: its spellings of times, sizes, enumerations and roles, and their
// counterparts in the catalog.
import type { TProperties } from 'typebox'
import type { Identity } from '../../accounts/identify.ts'
import type { Viewer } from '../../accounts/viewer.ts'
import { component, Type } from '../../base/schema.ts'
import type { FormatName } from '../../media/format/formats.ts'
import type { ReadingDirection, seriesStatuses } from '../../media/metadata/values.ts'

/** The reader: only administrators see file paths and sharing labels. */
export type Reader = { viewer: Viewer; isAdmin: boolean }

export const readerOf = ({
  identity,
  viewer,
}: {
  identity: Pick<Identity, 'permissions'>
  viewer: Viewer
}): Reader => ({ viewer, isAdmin: identity.permissions.has('SystemAdmin') })

/** A time in whole seconds: decoders in reading apps reject fractions. */
export const time = () => Type.String({ format: 'date-time' })
export const flag = Type.Boolean

const fieldsOf =
  <T>(create: () => T) =>
  <const N extends string>(...names: N[]) =>
    Object.fromEntries(names.map(name => [name, create()])) as Record<N, T>
/** Fields of these names, all of one type. */
export const texts = fieldsOf(() => Type.String())
export const integers = fieldsOf(() => Type.Integer())
export const flags = fieldsOf(flag)
export const times = fieldsOf(time)
export const bookCounters = integers(
  'booksCount',
  'booksReadCount',
  'booksUnreadCount',
  'booksInProgressCount',
)

/** Each field, followed by the flag whether it is locked. */
export const withLocks = <P extends TProperties>(fields: P) =>
  Object.fromEntries(
    Object.entries(fields).flatMap(([name, schema]) => [
      [name, schema],
      [`${name}Lock`, flag()],
    ]),
  ) as P & Record<`${Extract<keyof P, string>}Lock`, ReturnType<typeof flag>>

/** The lock of each field, by the name of its lock in the catalog. */
export const locksOf = <N extends string>(
  names: Readonly<Record<N, string>>,
  locked: readonly string[],
) =>
  Object.fromEntries(
    Object.entries<string>(names).map(([field, name]) => [`${field}Lock`, locked.includes(name)]),
  ) as Record<`${N}Lock`, boolean>

export const utcSeconds = (date: Date): string => `${date.toISOString().slice(0, 19)}Z`

/** `2026-01-02`; an unknown month or day becomes the first. Null without a four-digit year. */
export function dateOf(year: number | null, month: number | null, day: number | null) {
  if (year === null || year < 1 || year > 9999) return null
  const date = new Date(Date.UTC(2000, (month || 1) - 1, day || 1))
  date.setUTCFullYear(year)
  // Some files state dates that do not exist, such as June 31.
  if (Number.isNaN(date.getTime()) || date.getUTCDate() !== (day || 1))
    return `${String(year).padStart(4, '0')}-01-01`
  return date.toISOString().slice(0, 10)
}

type Status = (typeof seriesStatuses)[number]
export const seriesStatusNames = ['ENDED', 'ONGOING', 'ABANDONED', 'HIATUS'] as const
type SeriesStatusName = (typeof seriesStatusNames)[number]

export const statusName = (status: Status): SeriesStatusName =>
  status === 'unknown' ? 'ONGOING' : (status.toUpperCase() as SeriesStatusName)

/** Stored statuses that are shown under this name. */
export const statusesNamed = (name: SeriesStatusName): Status[] =>
  name === 'ONGOING' ? ['ongoing', 'unknown'] : [name.toLowerCase() as Status]

export const directionNames = {
  ltr: 'LEFT_TO_RIGHT',
  rtl: 'RIGHT_TO_LEFT',
  ttb: 'VERTICAL',
  webtoon: 'WEBTOON',
} as const satisfies Record<ReadingDirection, string>

// The RAR version is not stored.
export const mediaTypeOf: Readonly<Record<FormatName, string>> = {
  cbz: 'application/zip',
  cbr: 'application/x-rar-compressed',
  cb7: 'application/x-7z-compressed',
  cbt: 'application/x-tar',
  epub: 'application/epub+zip',
  pdf: 'application/pdf',
}

export const mediaProfiles = ['DIVINA', 'PDF', 'EPUB'] as const
export type MediaProfile = (typeof mediaProfiles)[number]

export const profileOf = (format: FormatName): MediaProfile =>
  format === 'epub' ? 'EPUB' : format === 'pdf' ? 'PDF' : 'DIVINA'

/** Errors of books that no program could avoid: their status is `UNSUPPORTED`. */
export const unsupportedErrors = [
  'encrypted',
  'multi_volume',
  'unsupported_format',
  'unsupported_image',
  'unsupported_method',
] as const

type MediaFacts = { format: string | null; errorCode: string | null; pageCount: number }

/**
 * `OUTDATED` does not occur: a book remains readable until it is read again. Without pages, such as an EPUB without a
 * reading order, there is nothing to display.
 */
export function mediaStatus({ format, errorCode, pageCount }: MediaFacts) {
  if (errorCode !== null)
    return unsupportedErrors.some(code => code === errorCode) ? 'UNSUPPORTED' : 'ERROR'
  if (format === null) return 'UNKNOWN'
  return pageCount === 0 ? 'ERROR' : 'READY'
}

/** Roles are in lower case; people without one are writers. */
export const roleName = (role: string | null): string =>
  role === 'cover_artist' ? 'cover' : role?.trim().toLowerCase() || 'writer'

/** The stored role for a role of the API. */
export const storedRole = (name: string): string => {
  const role = name.trim().toLowerCase()
  return role === 'cover' ? 'cover_artist' : role
}

/** Genres and tags are in lower case, without duplicates. */
export const lowerCase = (names: readonly string[]): string[] => [
  ...new Set(names.map(name => name.toLowerCase())),
]

export const Author = component('AuthorDto', { name: Type.String(), role: Type.String() })
export const WebLink = component('WebLinkDto', { label: Type.String(), url: Type.String() })

type StoredAuthor = { name: string; role: string | null }

/** Distinct pairs of name and role. */
export function authorsOf(authors: readonly StoredAuthor[]) {
  const known = new Map<string, { name: string; role: string }>()
  for (const { name, role } of authors) {
    const author = { name, role: roleName(role) }
    known.set(`${author.role} ${author.name}`, author)
  }
  return [...known.values()]
}
