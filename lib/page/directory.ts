// Where the pages of a book lie in its file: a row of numbers a page, so that thousands of books can be
// kept and a page is one read away.
import type { Entry } from '../archive/container.ts'
import type { RarEntry } from '../archive/rar/entry.ts'
import { copiedFrom } from '../archive/sevenzip/folder-stream.ts'
import type { Folder, Member } from '../archive/sevenzip/header.ts'
import { isEncrypted, type ZipEntry } from '../archive/zip/entry.ts'
import type { StoredPage } from './page-list.ts'

/** `solid`: a page cannot be had without unpacking those before it. `types` are what the rows refer to. */
export type Directory = { rows: Float64Array; types: string[]; solid: boolean }

/** One page. `at` is -1 when it does not lie in the file as it is, or deflated. */
export type Slot = {
  at: number
  /** Bytes from `at` to expect before the data: a local header of a ZIP that was not read yet. */
  lead: number
  packed: number
  bytes: number
  /** 0 stored, 8 deflated. */
  method: number
  /** -1 when there is none, or when it was found to be right. */
  crc: number
  /** Pixels; 0 when not known. */
  width: number
  height: number
  mediaType: string
}

const columns = 9
export const STORED = 0
export const DEFLATED = 8
const LOCAL_BYTES = 30
// Local extra fields are at most this much longer than central ones.
const SLACK = 32

export const pagesIn = ({ rows }: Directory): number => rows.length / columns

/** The slot of page `index`, which the caller has checked. */
export function slotAt({ rows, types }: Directory, index: number): Slot {
  const [at, lead, packed, bytes, method, crc, width, height, type] = rows.subarray(
    index * columns,
    (index + 1) * columns,
  ) as unknown as [number, number, number, number, number, number, number, number, number]
  return { at, lead, packed, bytes, method, crc, width, height, mediaType: types[type]! }
}

/** Remembers where the data of a page begins, and that its checksum was right. */
export function settleSlot({ rows }: Directory, index: number, dataAt: number): void {
  const row = index * columns
  rows[row] = dataAt
  rows[row + 1] = 0
  rows[row + 5] = -1
}

/** The directory of pages whose entries are given beside them; undefined where one was not found. */
export function makeDirectory(
  pages: readonly StoredPage[],
  entries: readonly (Entry | undefined)[],
  solid: boolean,
): Directory {
  const types = [...new Set(pages.map(page => page.mediaType))]
  const rows = new Float64Array(pages.length * columns)
  for (const [index, page] of pages.entries()) {
    const entry = entries[index]
    const place = (entry && placeOf(entry)) ?? nowhere
    const type = types.indexOf(page.mediaType)
    const size = [page.width ?? 0, page.height ?? 0]
    const { at, lead, method, crc } = place
    rows.set(
      [at, lead, entry?.packed ?? 0, page.bytes, method, crc, ...size, type],
      index * columns,
    )
  }
  return { rows, types, solid }
}

type Where = Pick<Slot, 'at' | 'lead' | 'method' | 'crc'>
const nowhere: Where = { at: -1, lead: 0, method: 0, crc: -1 }

function placeOf(entry: Entry): Where | null {
  if ('offset' in entry) return inZip(entry as ZipEntry)
  if ('folder' in entry) return inSevenZip(entry as SevenZipEntry)
  if ('header' in entry) return inRar(entry as RarEntry)
  if ('position' in entry) return { ...nowhere, at: entry.position as number }
  return null
}

function inZip(entry: ZipEntry): Where | null {
  const { offset, trailer, method, crc } = entry
  const isDirect = (method === STORED && entry.packed === entry.bytes) || method === DEFLATED
  if (!isDirect || offset < 0 || isEncrypted(entry)) return null
  return { at: offset, lead: LOCAL_BYTES + trailer + SLACK, method, crc: crc ?? -1 }
}

function inRar({ method, isEncrypted, copyOf, position, packed, bytes, crc }: RarEntry) {
  const isDirect = method === 0 && !isEncrypted && copyOf === null && packed === bytes
  return isDirect ? { ...nowhere, at: position, crc: crc ?? -1 } : null
}

type SevenZipEntry = Entry & { folder: Folder; at: number; member: Member }

function inSevenZip({ folder, at, member }: SevenZipEntry): Where | null {
  const start = copiedFrom(folder)
  if (start === null) return null
  const before = folder.members.slice(0, at).reduce((sum, { bytes }) => sum + bytes, 0)
  return { ...nowhere, at: start + before, crc: member.crc ?? -1 }
}

/** Whether reading one entry means unpacking others. */
export function isSolid(entries: readonly Entry[]): boolean {
  return entries.some(entry => {
    if ('isSolid' in entry) return (entry as RarEntry).isSolid
    if (!('folder' in entry)) return false
    const { folder } = entry as SevenZipEntry
    return folder.members.length > 1 && copiedFrom(folder) === null
  })
}

/** The entry of each page: by name and size, those of one name in the order of the container. */
export function entriesOf(
  pages: readonly { name: string; bytes: number }[],
  entries: readonly Entry[],
): (Entry | undefined)[] {
  const byPage = new Map<string, Entry[]>()
  for (const entry of entries.toSorted((a, b) => b.index - a.index)) {
    const key = `${entry.bytes} ${entry.name}`
    const same = byPage.get(key)
    if (same) same.push(entry)
    else byPage.set(key, [entry])
  }
  return pages.map(({ name, bytes }) => byPage.get(`${bytes} ${name}`)?.pop())
}
