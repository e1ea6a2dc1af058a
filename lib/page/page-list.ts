// Stored page list of a book: deflated JSON columns, one row per book. Thirty pages take about 400 bytes, a
// fifth of one row per page or of plain JSON.
import { deflateRawSync, inflateRawSync } from 'node:zlib'
import type { EntryLocation } from '../media/archive/container.ts'
import type { Page } from '../media/format/contract.ts'
import type { PageNote } from '../media/metadata/values.ts'

/** A page as returned by the API. `isDouble`: a two-page spread. */
export type StoredPage = Page & { isDouble: boolean; type: string | null }

// zlib clears a quarter of a megabyte for its default window, but page lists have only a few kilobytes.
const smallWindow = { windowBits: 12, memLevel: 5 }
// Starting zlib to save a hundred bytes takes longer than reading a small book.
const maxStoredBytes = 512

type Columns = {
  names: string[]
  types: string[]
  /** Index into `types`. */
  type: number[]
  bytes: number[]
  widths: (number | null)[]
  heights: (number | null)[]
  doubles: number[]
  kinds?: Record<number, string>
  locations?: LocationColumns
  changedMs?: number
}

type Source = {
  notes?: readonly PageNote[]
  /** `File.changedMs` when the pages were read. */
  changedMs?: number
}

/** Packs pages in reading order. A page is double if ComicInfo marks it so, or if it is wider than it is high. */
export function packPages(pages: readonly Page[], { notes = [], changedMs }: Source = {}): Buffer {
  const types = [...new Set(pages.map(page => page.mediaType))]
  const noteByImage = new Map(notes.map(note => [note.image, note]))
  const kinds = Object.fromEntries(
    notes
      .filter(note => note.type !== null && note.image < pages.length)
      .map(note => [note.image, note.type as string]),
  )
  const columns: Columns = {
    names: pages.map(page => page.name),
    types,
    type: pages.map(page => types.indexOf(page.mediaType)),
    bytes: pages.map(page => page.bytes),
    widths: pages.map(page => page.width),
    heights: pages.map(page => page.height),
    doubles: pages.flatMap((page, i) => (isDouble(page, noteByImage.get(i)) ? [i] : [])),
    ...(Object.keys(kinds).length > 0 ? { kinds } : {}),
    locations: packLocations(pages),
    changedMs,
  }
  const json = Buffer.from(JSON.stringify(columns))
  return json.length <= maxStoredBytes ? storedBlock(json) : deflateRawSync(json, smallWindow)
}

/** A deflate stream of one stored block (RFC 1951, 3.2.4), which `inflate` reads like any other. */
function storedBlock(bytes: Buffer): Buffer {
  const header = Buffer.alloc(5)
  header[0] = 1
  header.writeUInt16LE(bytes.length, 1)
  header.writeUInt16LE(bytes.length ^ 0xffff, 3)
  return Buffer.concat([header, bytes])
}

/** The inverse of `packPages`; `changedMs` is null if it was not given. */
export function unpackPageList(packed: Uint8Array): {
  pages: StoredPage[]
  changedMs: number | null
} {
  const columns: Columns = JSON.parse(inflateRawSync(packed).toString())
  return { pages: pagesOf(columns), changedMs: columns.changedMs ?? null }
}

export const unpackPages = (packed: Uint8Array): StoredPage[] => unpackPageList(packed).pages

function pagesOf(columns: Columns): StoredPage[] {
  const doubles = new Set(columns.doubles)
  const locations = unpackLocations(columns.locations, columns.bytes)
  return columns.names.map((name, i) => ({
    name,
    mediaType: columns.types[columns.type[i]!]!,
    bytes: columns.bytes[i]!,
    width: columns.widths[i]!,
    height: columns.heights[i]!,
    isDouble: doubles.has(i),
    type: columns.kinds?.[i] ?? null,
    location: locations[i] ?? null,
  }))
}

function isDouble(page: Page, note: PageNote | undefined) {
  return note?.double || (page.width !== null && page.height !== null && page.width > page.height)
}

// Locations are stored so that the first page of a book takes one read of its file: as differences, which are mostly equal and
// deflate well. Checksums would double the size of a list: those of a ZIP are left in its file.
type LocatedPage = { bytes: number; location: EntryLocation }

/** A column whose values are all equal is stored as a single value. */
type Column<T> = T | T[]

type LocationColumns = {
  /** From the end of the previous page to the start of this one; null for a page without a location. */
  gaps: Column<number | null>
  headers: Column<number>
  /** How much smaller the packed data is. */
  saved: Column<number>
  methods: Column<0 | 8>
  crcs: Column<number | 'header' | null>
  solid?: true
}

/** Undefined if no page has a location. */
function packLocations(pages: readonly LocatedPage[]): LocationColumns | undefined {
  if (pages.every(({ location }) => location === null)) return undefined
  let end = 0
  const rows = pages.map(({ bytes, location }) => {
    if (location === null || location === 'solid') return absent
    const { offset, headerBytes, packedBytes, method, crc } = location
    const gap = offset - end
    end = offset + packedBytes
    return { gap, headerBytes, saved: bytes - packedBytes, method, crc }
  })
  return {
    gaps: column(rows.map(row => row.gap)),
    headers: column(rows.map(row => row.headerBytes)),
    saved: column(rows.map(row => row.saved)),
    methods: column(rows.map(row => row.method)),
    crcs: column(rows.map(row => row.crc)),
    ...(pages.some(({ location }) => location === 'solid') ? { solid: true } : {}),
  }
}

const absent = { gap: null, headerBytes: 0, saved: 0, method: 0, crc: null } as const

/** The inverse of `packLocations`; `sizes` are the bytes of the pages. */
function unpackLocations(
  columns: LocationColumns | undefined,
  sizes: readonly number[],
): EntryLocation[] {
  if (columns === undefined) return []
  const { gaps, headers, saved, methods, crcs, solid } = columns
  let end = 0
  return sizes.map((bytes, i) => {
    const gap = at(gaps, i)
    if (gap === null) return solid ? 'solid' : null
    const offset = end + gap
    const headerBytes = at(headers, i)
    const packedBytes = bytes - at(saved, i)
    end = offset + packedBytes
    return { offset, headerBytes, packedBytes, method: at(methods, i), crc: at(crcs, i) }
  })
}

function column<T extends number | string | null>(values: T[]): Column<T> {
  return values.every(value => value === values[0]) ? values[0]! : values
}

const at = <T extends number | string | null>(values: Column<T>, i: number): T =>
  Array.isArray(values) ? values[i]! : values
