// Stored page list of a book: deflated JSON columns, one row per book. Thirty pages take about 400 bytes, a
// fifth of one row per page or of plain JSON.
import { deflateRawSync, inflateRawSync } from 'node:zlib'
import type { Page } from '../media/format/contract.ts'
import type { PageNote } from '../media/metadata/values.ts'
import { type LocationColumns, packLocations, unpackLocations } from './page-locations.ts'

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
