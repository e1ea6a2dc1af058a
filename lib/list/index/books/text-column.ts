// Texts of all present books, one byte after another, in memory or in a file: a value that no index finds, of two letters or
// in most books, is searched for in some 20 ms per million books instead of a pass of PostgreSQL.
import { setImmediate } from 'node:timers/promises'
import type { TemporaryFile } from '../temporary-file.ts'

export const textFields = ['title', 'path', 'summary', 'search'] as const
/** `search`: the text of `book_search`, also of missing books. */
export type TextField = (typeof textFields)[number]

export type TextColumn = {
  bytes: TextBytes
  /** Where the text of each entry begins, and the end of the last. */
  starts: Uint32Array
  /** The book of each entry. */
  books: Uint32Array
}

/** Covers the books below `maxDoc`. */
export type Texts = TextColumn & {
  maxDoc: number
  /**
   * For paths, whose entries are names: the folders by number, with a slash at the end; the first entry of each, and the
   * number of all entries.
   */
  folders?: { paths: TextColumn; firsts: Uint32Array }
}

/** In memory or in a file. */
export type TextBytes = Buffer | TemporaryFile

/** Where the texts of a column are put, one after another. */
export type TextStore = { append(text: Uint8Array): void; finish(): TextBytes }

export type TextOperator = 'equals' | 'contains' | 'beginsWith' | 'endsWith'

/** Grows as texts are added; `entries` are expected. */
export function createTextColumn(entries: number, store: TextStore = createTextMemory(entries)) {
  let count = 0
  const starts = new Uint32Array(entries + 1)
  const books = new Uint32Array(entries)
  return {
    /** More texts than expected are left out. */
    add(text: Uint8Array, book: number): void {
      if (count === entries) return
      store.append(text)
      books[count++] = book
      starts[count] = starts[count - 1]! + text.length
    },
    finish: (): TextColumn => ({
      bytes: store.finish(),
      starts: starts.slice(0, count + 1),
      books: books.slice(0, count),
    }),
  }
}

function createTextMemory(entries: number): TextStore {
  let bytes = Buffer.alloc(entries * 16)
  let used = 0
  return {
    append(text) {
      if (used + text.length > bytes.length) {
        const larger = Buffer.alloc(Math.ceil((used + text.length) * 1.3))
        larger.set(bytes.subarray(0, used))
        bytes = larger
      }
      bytes.set(text, used)
      used += text.length
    },
    finish() {
      return Buffer.from(bytes.subarray(0, used))
    },
  }
}

/** What the function returns is valid until its next call. */
function readerOf(bytes: TextBytes): (start: number, end: number) => Buffer | Promise<Buffer> {
  if (Buffer.isBuffer(bytes)) return (start, end) => bytes.subarray(start, end)
  let buffer = Buffer.alloc(0)
  return async (start, end) => {
    const length = end - start
    if (buffer.length < length) buffer = Buffer.allocUnsafeSlow(length)
    const part = buffer.subarray(0, length)
    await bytes.read(part, start)
    return part
  }
}

/** Other requests are served between parts of so many bytes, or entries without any. */
const sliceBytes = 2_000_000
const sliceEntries = 200_000

/** Bytes of an entry, valid until `visit` returns. */
type EntryText = { part: Buffer; start: number; end: number }

/** Calls `visit` with the book of each entry from `first` to before `end` for whose text the test holds. */
export async function forEachMatch(
  { bytes, starts, books }: TextColumn,
  { operator, value }: { operator: TextOperator; value: Uint8Array },
  visit: (book: number, text: EntryText) => void,
  { first = 0, end = books.length }: { first?: number; end?: number } = {},
): Promise<void> {
  const read = readerOf(bytes)
  const forEach = operator === 'contains' ? forEachContaining : forEachOther(operator)
  for (let from = first; from < end; ) {
    let to = from
    const limit = Math.min(end, from + sliceEntries)
    while (to < limit && starts[to]! - starts[from]! < sliceBytes) to++
    const part = await read(starts[from]!, starts[to]!)
    const [first, at] = [from, starts[from]!]
    forEach(part, starts.subarray(from, to + 1), value, i => {
      const entry = first + i
      visit(books[entry]!, { part, start: starts[entry]! - at, end: starts[entry + 1]! - at })
    })
    from = to
    if (from < end) await setImmediate()
  }
}

/** `starts` of the entries of a part, and the end of the last. */
type ForEachEntry = (
  part: Buffer,
  starts: Uint32Array,
  value: Uint8Array,
  visit: (entry: number) => void,
) => void

const forEachContaining: ForEachEntry = (part, starts, value, visit) => {
  const { length } = value
  if (length === 0) {
    for (let entry = 0; entry < starts.length - 1; entry++) visit(entry)
    return
  }
  const first = starts[0]!
  let entry = 0
  let next = starts[1]! - first
  for (let at = part.indexOf(value); at >= 0; at = part.indexOf(value, at)) {
    while (at >= next) next = starts[++entry + 1]! - first
    if (at + length > next) at++
    else {
      visit(entry)
      at = next
    }
  }
}

function isAt(bytes: Uint8Array, at: number, value: Uint8Array): boolean {
  for (let i = 0; i < value.length; i++) if (bytes[at + i] !== value[i]) return false
  return true
}

const forEachOther =
  (operator: Exclude<TextOperator, 'contains'>): ForEachEntry =>
  (part, starts, value, visit) => {
    const first = starts[0]!
    const { length } = value
    for (let entry = 0; entry < starts.length - 1; entry++) {
      const [start, end] = [starts[entry]! - first, starts[entry + 1]! - first]
      const isLong = operator === 'equals' ? end - start === length : end - start >= length
      if (isLong && isAt(part, operator === 'endsWith' ? end - length : start, value)) visit(entry)
    }
  }
