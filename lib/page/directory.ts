// Page directory: where a book's pages lie in its file. Stored as rows of numbers, so that thousands of books
// fit in memory and a page is a single read.
import type { Entry, EntryLocation } from '../media/archive/container.ts'
import type { Verdict } from '../media/image/verify.ts'
import type { StoredPage } from './page-list.ts'

/**
 * `isSolid`: reading a page requires unpacking those before it. `types` are the media types that rows refer
 * to.
 */
export type PageDirectory = {
  rows: Float64Array
  types: string[]
  isSolid: boolean
  /** The slots come from the scan; otherwise they were read from the file. */
  isCataloged: boolean
  /**
   * Change time of the file when its pages were located. Unlike size and modification time, it cannot be set
   * to match another file's.
   */
  changedMs: number
  /** The file has been replaced since, or pages lie elsewhere: the directory must no longer be used. */
  isStale?: boolean
}

/** One page. `offset` is -1 if the page is neither stored nor deflated in the file. */
export type PageSlot = {
  offset: number
  /**
   * Upper bound of the bytes between `offset` and the data: a local ZIP header that has not been read yet.
   */
  headerBytes: number
  packedBytes: number
  sizeBytes: number
  /** 0 stored, 8 deflated. */
  method: number
  /** Or `NO_CRC`, also once verified, or `CRC_IN_HEADER`. */
  crc: number
  /** Pixels; 0 if unknown. */
  width: number
  height: number
  mediaType: string
  verdict: Verdict | null
}

// Null until the page has been verified.
const verdicts = [null, 'sound', 'damaged'] as const

export const NO_CRC = -1
/** The checksum is in the local ZIP header. */
export const CRC_IN_HEADER = -2

const columns = 10
export const STORED = 0
export const DEFLATED = 8

export const pageCountOf = ({ rows }: PageDirectory): number => rows.length / columns

/** The slot of page `index`, which the caller has checked. */
export function slotAt({ rows, types }: PageDirectory, index: number): PageSlot {
  const row = rows.subarray(index * columns, (index + 1) * columns)
  return {
    offset: row[0]!,
    headerBytes: row[1]!,
    packedBytes: row[2]!,
    sizeBytes: row[3]!,
    method: row[4]!,
    crc: row[5]!,
    width: row[6]!,
    height: row[7]!,
    mediaType: types[row[8]!]!,
    verdict: verdicts[row[9]!]!,
  }
}

/** Records the offset of a page's data after verifying its checksum. */
export function confirmSlot({ rows }: PageDirectory, index: number, dataOffset: number): void {
  const row = index * columns
  rows[row] = dataOffset
  rows[row + 1] = 0
  rows[row + 5] = NO_CRC
}

/** Leaves reading the page to a thread: its data is not as the file declares it. */
export function forgetLocation({ rows }: PageDirectory, index: number): void {
  rows[index * columns] = -1
}

/** The file differs from the directory's: what was verified no longer counts. */
export function markStale(directory: PageDirectory): void {
  if (directory.isStale) return
  directory.isStale = true
  for (let index = 0; index < pageCountOf(directory); index++) setVerdict(directory, index, null)
}

/** Records whether the original bytes of a page decode; null: not verified. */
export function setVerdict({ rows }: PageDirectory, index: number, verdict: Verdict | null): void {
  rows[index * columns + 9] = verdicts.indexOf(verdict)
}

type LocatedPage = Pick<StoredPage, 'mediaType' | 'bytes' | 'width' | 'height' | 'location'>

export function createDirectory(
  pages: readonly LocatedPage[],
  { isCataloged, changedMs }: Pick<PageDirectory, 'isCataloged' | 'changedMs'>,
): PageDirectory {
  const types = [...new Set(pages.map(page => page.mediaType))]
  const rows = new Float64Array(pages.length * columns)
  let isSolid = false
  for (const [index, page] of pages.entries()) {
    if (page.location === 'solid') isSolid = true
    const location = page.location === 'solid' ? null : page.location
    rows.set(
      [
        location?.offset ?? -1,
        location?.headerBytes ?? 0,
        location?.packedBytes ?? 0,
        page.bytes,
        location?.method ?? 0,
        location?.crc === 'header' ? CRC_IN_HEADER : (location?.crc ?? NO_CRC),
        page.width ?? 0,
        page.height ?? 0,
        types.indexOf(page.mediaType),
        0,
      ],
      index * columns,
    )
  }
  return { rows, types, isSolid, isCataloged, changedMs }
}

type NamedPage = Pick<StoredPage, 'name' | 'bytes' | 'location'>

/**
 * The entry of each page by name and size. Among equal ones it is the one at the stored offset, since the
 * scan omits entries that are not images; without offsets they are taken in container order.
 */
export function entriesOf(
  pages: readonly NamedPage[],
  entries: readonly Entry[],
  locate: (entry: Entry) => EntryLocation,
): (Entry | undefined)[] {
  const byName = new Map<string, Entry[]>()
  for (const entry of entries.toSorted((a, b) => b.index - a.index)) {
    const key = `${entry.sizeBytes} ${entry.name}`
    const sameKey = byName.get(key)
    if (sameKey) sameKey.push(entry)
    else byName.set(key, [entry])
  }
  const byOffset = new Map<string, Entry>()
  for (const [key, sameKey] of byName)
    if (sameKey.length > 1)
      for (const entry of sameKey) byOffset.set(`${key} ${offsetOf(locate(entry))}`, entry)
  return pages.map(({ name, bytes, location }) => {
    const key = `${bytes} ${name}`
    const offset = offsetOf(location)
    const stored = offset === null ? undefined : byOffset.get(`${key} ${offset}`)
    return stored ?? byName.get(key)?.pop()
  })
}

const offsetOf = (location: EntryLocation): number | null =>
  location === null || location === 'solid' ? null : location.offset
