// Page locations in a stored page list, so that the first page of a book takes one read of its file. Stored
// as differences, which are mostly equal and deflate well. Checksums would double the size of a list: those
// of a ZIP are left in its file.
import type { EntryLocation } from '../media/archive/container.ts'

type LocatedPage = { bytes: number; location: EntryLocation }

/** A column whose values are all equal is stored as a single value. */
type Column<T> = T | T[]

export type LocationColumns = {
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
export function packLocations(pages: readonly LocatedPage[]): LocationColumns | undefined {
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
export function unpackLocations(
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
