// Page directory: where the pages of a book lie in its file. One row of numbers per page, so that
// thousands of books fit in memory and a page is a single read.
import type { Entry, EntryLocation } from '../media/archive/container.ts'
import type { Verdict } from '../media/image/verify.ts'
import type { StoredPage } from './page-list.ts'

/** `isSolid`: reading a page requires unpacking those before it. `types` are the media types that rows refer to. */
export type PageDirectory = {
  rows: Float64Array
  types: string[]
  isSolid: boolean
  /** The slots are those that the scan has stored; otherwise they were read from the file. */
  isCatalogued: boolean
  /** Change time of the file when its pages were located. Size and modification time may be given to another file, this not. */
  changedMs: number
  /** The file was exchanged since, or pages lie elsewhere: the directory must not be used any more. */
  isStale?: boolean
}

/** One page. `offset` is -1 when the page is neither stored nor deflated in the file. */
export type PageSlot = {
  offset: number
  /** Upper bound of the bytes between `offset` and the data: a local ZIP header that was not read yet. */
  headerBytes: number
  packedBytes: number
  sizeBytes: number
  /** 0 stored, 8 deflated. */
  method: number
  /** Or `NO_CRC`, also once it was verified, or `CRC_IN_HEADER`. */
  crc: number
  /** Pixels; 0 when unknown. */
  width: number
  height: number
  mediaType: string
  verdict: Verdict | null
}

// Null until the page was verified.
const verdicts = [null, 'sound', 'damaged'] as const

export const NO_CRC = -1
/** In the local header of the ZIP. */
export const CRC_IN_HEADER = -2

const columns = 10
export const STORED = 0
export const DEFLATED = 8

export const pageCountOf = ({ rows }: PageDirectory): number => rows.length / columns

/** The slot of page `index`, which the caller has checked. */
export function slotAt({ rows, types }: PageDirectory, index: number): PageSlot {
  const [offset, headerBytes, packedBytes, sizeBytes, method, crc, width, height, type, verdict] =
    rows.subarray(index * columns, (index + 1) * columns) as unknown as [
      number,
      number,
      number,
      number,
      number,
      number,
      number,
      number,
      number,
      number,
    ]
  return {
    offset,
    headerBytes,
    packedBytes,
    sizeBytes,
    method,
    crc,
    width,
    height,
    mediaType: types[type]!,
    verdict: verdicts[verdict]!,
  }
}

/** Records the offset of the data of a page after its checksum was verified. */
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

/** The file is another one than that of the directory: what was verified does not count any more. */
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
  { isCatalogued, changedMs }: Pick<PageDirectory, 'isCatalogued' | 'changedMs'>,
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
  return { rows, types, isSolid, isCatalogued, changedMs }
}

type NamedPage = Pick<StoredPage, 'name' | 'bytes' | 'location'>

/**
 * The entry of each page by name and size. Of several entries with the same ones it is that at the stored offset, since
 * the scan leaves out those that are no images; else they are taken in the order of the container.
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
