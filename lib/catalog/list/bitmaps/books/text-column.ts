// Texts of all present books in memory, one byte after another: a value that no index finds, of two letters or
// in most books, is searched for in some 20 ms per million books instead of a pass of PostgreSQL.
import { setImmediate } from 'node:timers/promises'

export type TextColumn = {
  bytes: Buffer
  /** Where the text of each entry begins, and the end of the last. */
  starts: Uint32Array
  /** The book of each entry. */
  books: Uint32Array
}

export type TextOperator = 'equals' | 'contains' | 'beginsWith' | 'endsWith'

/** Grows as texts are added; `entries` are expected. */
export function createTextColumn(entries: number) {
  let bytes = Buffer.alloc(entries * 16)
  let used = 0
  let count = 0
  const starts = new Uint32Array(entries + 1)
  const books = new Uint32Array(entries)
  return {
    /** More texts than expected are left out. */
    add(text: Uint8Array, book: number): void {
      if (count === entries) return
      if (used + text.length > bytes.length) {
        const larger = Buffer.alloc(Math.ceil((used + text.length) * 1.3))
        larger.set(bytes.subarray(0, used))
        bytes = larger
      }
      bytes.set(text, used)
      starts[count] = used
      books[count++] = book
      used += text.length
      starts[count] = used
    },
    finish: (): TextColumn => ({
      bytes: Buffer.from(bytes.subarray(0, used)),
      starts: starts.slice(0, count + 1),
      books: books.slice(0, count),
    }),
  }
}

/** Other requests are served between parts of so many bytes, or entries without any. */
const sliceBytes = 2_000_000
const sliceEntries = 200_000
/** Matches of a part that are searched for by native code. */
const maxSearched = 2_000

type Search = { operator: TextOperator; value: Uint8Array }

/** Calls `visit` with the book of each entry from `first` to before `end` for whose text the test holds. */
export async function forEachMatch(
  { bytes, starts, books }: TextColumn,
  { operator, value }: Search,
  visit: (book: number) => void,
  { first = 0, end = books.length }: { first?: number; end?: number } = {},
): Promise<void> {
  let from = first
  while (from < end) {
    let to = from
    const limit = Math.min(end, from + sliceEntries)
    while (to < limit && starts[to]! - starts[from]! < sliceBytes) to++
    if (operator === 'contains')
      containing(bytes, starts, { from, to, value }, i => visit(books[i]!))
    else
      for (let i = from; i < to; i++)
        if (matches[operator](bytes, { start: starts[i]!, end: starts[i + 1]!, value }))
          visit(books[i]!)
    from = to
    if (from < end) await setImmediate()
  }
}

type Entries = { from: number; to: number; value: Uint8Array }

function containing(
  bytes: Buffer,
  starts: Uint32Array,
  { from, to, value }: Entries,
  visit: (entry: number) => void,
): void {
  const { length } = value
  if (length === 0) {
    for (let entry = from; entry < to; entry++) visit(entry)
    return
  }
  let entry = from
  let next = starts[entry + 1]!
  let found = 0
  const last = starts[to]! - length
  // Ends with the part: a search for no match must not read those that follow.
  const part = bytes.subarray(0, starts[to]!)
  for (let at = starts[from]!; at <= last; at++) {
    if (found < maxSearched) {
      // Native code is faster between matches, and slower for each of them.
      at = part.indexOf(value, at)
      if (at < 0) return
      found++
    } else if (!isAt(bytes, at, value)) continue
    while (at >= next) next = starts[++entry + 1]!
    if (at + length > next) continue
    visit(entry)
    at = next - 1
  }
}

function isAt(bytes: Uint8Array, at: number, value: Uint8Array): boolean {
  for (let i = 0; i < value.length; i++) if (bytes[at + i] !== value[i]) return false
  return true
}

type Text = { start: number; end: number; value: Uint8Array }

const matches = {
  equals: (bytes: Uint8Array, { start, end, value }: Text) =>
    end - start === value.length && isAt(bytes, start, value),
  beginsWith: (bytes: Uint8Array, { start, end, value }: Text) =>
    end - start >= value.length && isAt(bytes, start, value),
  endsWith: (bytes: Uint8Array, { start, end, value }: Text) =>
    end - start >= value.length && isAt(bytes, end - value.length, value),
}
