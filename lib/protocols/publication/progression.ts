// Reading progression as exchanged by reading apps (Readium locators in the format of Cantook and Komga). The
// catalog's progress is the source of truth. The locator of an app is stored beside it and returned unchanged,
// except for URLs of this server, until the progress is changed elsewhere.
import type { JSONValue, Sql } from 'postgres'
import type { Viewer } from '../../accounts/viewer.ts'
import { Conflict, Invalid, Unreadable } from '../../base/errors.ts'
import { component, name, record, type Static, timestamp } from '../../base/schema.ts'
import { isBlank } from '../../base/xml-writer.ts'
import type { BookFile } from '../../catalog/book/book-file.ts'
import { isReflowable } from '../../media/format/formats.ts'
import type { ReadingDevice } from '../../reading/device.ts'
import type { Surface } from '../../reading/entry.ts'
import type { PositionUpdate } from '../../reading/position.ts'
import { recordReading } from '../../reading/record.ts'
import type { Queryable } from '../../store/postgres/db.ts'
import { withoutEmpty } from './json-writer.ts'
import { type KoreaderPosition, locatorOfPointer } from './koreader-position.ts'
import {
  type ClientLocator,
  locatorAtProgression,
  maxLocatorBytes,
  pageInAddress,
  pageOfLocator,
  placeOfLocator,
  ReadiumLocator,
} from './locator.ts'
import {
  fileAsResource,
  type Locator,
  pageLocator,
  pagesOf,
  progressionOfPage,
  type ReadableBook,
  sectionsOf,
} from './positions.ts'
import { fromStoredLocator, toStoredLocator, withoutApiKeys } from './stored-locator.ts'

// Values that could not be returned unchanged are rejected.
export const ProgressionUpdate = component('ProgressionUpdate', {
  modified: timestamp({
    description: 'Time of reading; 409 if it is older than the stored progression.',
  }),
  device: record({ id: name(500), name: name(500) }),
  locator: ReadiumLocator,
})

export type Device = { id: string; name: string }

/** `locator` has all members that the app wrote, except empty ones. */
export type Progression = {
  modified: Date
  device: Device
  locator: ClientLocator
}

type StoredProgress = {
  page: number
  percentage: number | null
  isCompleted: boolean
  updatedAt: Date
  /** What an app wrote with it; null for progress of another origin. */
  modified: Date | null
  device: Device | null
  locator: ClientLocator | null
  koreader: KoreaderPosition | null
}

/** Progress in a visible book, with what the app that wrote it stored; null before it was started. */
export async function storedProgress(
  sql: Queryable,
  { accountId }: Viewer,
  bookId: string,
): Promise<StoredProgress | null> {
  const [row] = await sql<StoredProgress[]>`
    select p.current_page as page, p.percentage, p.is_completed as "isCompleted",
      p.updated_at as "updatedAt", stored.modified_at as modified, stored.device, stored.locator,
      stored.koreader
    from progress p
    left join book_locator stored on stored.account_id = p.account_id
      and stored.book_id = p.book_id and stored.position_id = p.position_id
    where p.account_id = ${accountId} and p.book_id = ${bookId}`
  return row ?? null
}

/**
 * The viewer's progression; `server` is the device of progress not written by an app. Null before the book was
 * started. Throws Unavailable.
 */
export async function readProgression(
  sql: Queryable,
  viewer: Viewer,
  { book, server }: { book: ReadableBook; server: Device },
): Promise<Progression | null> {
  const row = await storedProgress(sql, viewer, book.file.id)
  if (row === null) return null
  const modified = row.modified ?? row.updatedAt
  if (row.device !== null && row.locator !== null) {
    const { device, locator } = withoutApiKeys({ device: row.device, locator: row.locator })
    return { modified, device, locator: fromStoredLocator(locator, book.links) }
  }
  const device = row.device === null ? server : withoutApiKeys(completed(row.device, server))
  return { modified, device, locator: await locatorOf(row, book) }
}

/** KOReader may omit the id and name of the device; a progression has both. */
function completed({ id, name }: Device, server: Device): Device {
  const known = [id, name].find(text => !isBlank(text))
  return {
    id: isBlank(id) ? (known ?? server.id) : id,
    name: isBlank(name) ? (known ?? server.name) : name,
  }
}

/** The part that is stored beside the progress. */
export function storedLocator(progression: Progression) {
  const { device, locator } = withoutApiKeys({
    device: progression.device,
    locator: progression.locator,
  })
  const readium = withoutEmpty(toStoredLocator(locator)) as ClientLocator
  return { device, readium, modified: progression.modified.getTime() }
}

/** The progression in a body, with the precision of its time. Throws Invalid. */
export function writtenProgression({
  device,
  locator,
  modified,
}: Static<typeof ProgressionUpdate>) {
  if (Buffer.byteLength(JSON.stringify(locator)) > maxLocatorBytes)
    throw new Invalid('body/locator is too long')
  const { id, name } = device
  return {
    progression: { device: { id, name }, locator, modified: parseTime(modified) },
    precisionMs: precisionOf(String(modified)),
  }
}

function parseTime(value: Date | string): Date {
  const time = new Date(value)
  const year = time.getUTCFullYear()
  if (!(year >= 1 && year <= 9999)) throw new Invalid('body/modified is not a valid time')
  return time
}

/**
 * The precision of a clock in milliseconds, judged by the time it wrote: a thousand for `12:00:00Z`, and also for
 * `12:00:00.000Z`, because clocks with whole seconds are often formatted like that.
 */
function precisionOf(time: string): number {
  const digits = /\.(\d*?)0*(?:[zZ]|[+-])/.exec(time)?.[1]?.length ?? 0
  return 10 ** (3 - Math.min(digits, 3))
}

type Update = {
  book: ReadableBook
  progression: Progression
  /** Precision of `modified`. */
  precisionMs: number
  readingDevice: ReadingDevice
  surface: Extract<Surface, 'opds' | 'komga'>
}

/**
 * Stores the progression of an app. Throws Conflict when newer progress is stored, Invalid for a locator
 * outside the book, NotFound, Unreadable, Unavailable.
 */
export async function storeProgression(
  sql: Sql,
  viewer: Viewer,
  { book, progression, precisionMs, readingDevice, surface }: Update,
): Promise<void> {
  const { modified } = progression
  const stored = storedLocator(progression)
  const origin = { surface, device: readingDevice }
  const { isNewest } = await recordReading(sql, viewer, origin, {
    bookId: book.file.id,
    ...(await positionOfLocator(stored.readium, book)),
    at: modified,
    precisionMs,
    locator: { ...stored, readium: stored.readium as JSONValue },
  })
  if (!isNewest) throw new Conflict('Newer progress is stored', { reason: 'progress_newer' })
}

async function positionOfLocator(
  locator: ClientLocator,
  { file, links, contents }: ReadableBook,
): Promise<PositionUpdate> {
  const { id, format, pageCount } = file
  if (!isReflowable(format) || pageInAddress(id, locator) !== null)
    return { currentPage: pageOfLocator(id, locator, pageCount) }
  try {
    const epub = await contents()
    const sections = sectionsOf(id, epub, links)
    return placeOfLocator(locator, epub, sections)
  } catch (error) {
    const totalProgression = locator.locations?.totalProgression
    // The app could read the book, so its value is used although this server cannot verify it.
    if (!(error instanceof Unreadable) || totalProgression == null) throw error
    return { progressPercentage: totalProgression }
  }
}

async function locatorOf(row: StoredProgress, book: ReadableBook): Promise<Locator> {
  const { file, links } = book
  const totalProgression = totalProgressionOf(row, file)
  const fileLocator = { ...fileAsResource(file, links), locations: { totalProgression } }
  if (file.format === null) return fileLocator
  if (isReflowable(file.format)) {
    try {
      const contents = await book.contents()
      const sections = sectionsOf(file.id, contents, links)
      return row.koreader === null
        ? locatorAtProgression(totalProgression, sections)
        : locatorOfPointer(row.koreader, { contents, sections })
    } catch (error) {
      if (error instanceof Unreadable) return fileLocator
      throw error
    }
  }
  const pages = await pagesOf(book)
  if (pages.count === 0) return fileLocator
  return pageLocator(book, Math.min(Math.max(row.page, 1), pages.count), pages)
}

/** The fraction of a book before a position, 0 to 1. */
export function totalProgressionOf(
  { page, percentage, isCompleted }: Pick<StoredProgress, 'page' | 'percentage' | 'isCompleted'>,
  { format, pageCount }: Pick<BookFile, 'format' | 'pageCount'>,
): number {
  if (percentage !== null) return percentage
  if (pageCount === 0 || isCompleted) return Number(isCompleted)
  // In a text the locator is the start of the page, in a comic it is the page itself.
  return isReflowable(format)
    ? progressionOfPage(Math.max(0, page - 1), pageCount)
    : progressionOfPage(page, pageCount)
}
