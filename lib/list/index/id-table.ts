// Hash table of UUIDs: from an id to its place in a list of ids, 20 to 24 bytes each. Tables do not change: one with
// more ids shares what it has with the one before.
import { setImmediate } from 'node:timers/promises'
import type { Fragment, Sql } from 'postgres'
import type { Queryable } from '../../store/postgres/db.ts'
import { type Bitmap, has } from './bitmap.ts'

export const idBytes = 16
const idWords = 4

export type IdTable = Slots & {
  /** Ids that were added later, at the places from `first` on; the newest last. */
  added: { first: number; ids: Slots }[]
  /** Places whose ids have none, or one of `added`. */
  deleted: Bitmap | null
}

type Slots = {
  /** Four words of each id, as the bytes are in memory. */
  ids: Uint32Array<ArrayBuffer>
  /** The place of an id, and 1; 0 for none. */
  slots: Uint32Array<ArrayBuffer>
}

/** Ids are looked up in parts of so many, between which other requests are served: some milliseconds. */
const sliceIds = 20_000

export async function createIdTable(ids: Uint32Array<ArrayBuffer>): Promise<IdTable> {
  return { ...(await createSlots(ids)), added: [], deleted: null }
}

/** The last place if the id occurs more than once. */
async function createSlots(ids: Uint32Array<ArrayBuffer>): Promise<Slots> {
  const count = ids.length / idWords
  const table = { ids, slots: new Uint32Array(2 ** Math.ceil(Math.log2(count * 1.5 + 1))) }
  const { slots } = table
  for (let place = 0; place < count; place++) {
    if (place % sliceIds === sliceIds - 1) await setImmediate()
    slots[findSlot(table, ids, place * idWords)] = place + 1
  }
  return table
}

/** The table with more ids, which take the places after all others; `deleted`: places that are no longer found. */
export async function addIds(
  table: IdTable,
  ids: Uint32Array<ArrayBuffer>,
  deleted: Bitmap | null,
): Promise<IdTable> {
  const added = [...table.added]
  let first = countIds(table)
  let all = ids
  // Few tables, each at least twice as long as the next.
  for (let last = added.at(-1); last && last.ids.ids.length < all.length * 2; last = added.at(-1)) {
    added.pop()
    const both = new Uint32Array(last.ids.ids.length + all.length)
    both.set(last.ids.ids)
    both.set(all, last.ids.ids.length)
    all = both
    first = last.first
  }
  if (all.length > 0) added.push({ first, ids: await createSlots(all) })
  return { ...table, added, deleted }
}

/** Without those that were added. */
export const firstCount = ({ ids }: IdTable): number => ids.length / idWords

export function countIds(table: IdTable): number {
  const last = table.added.at(-1)
  return last ? last.first + last.ids.ids.length / idWords : firstCount(table)
}

/** The slot of an id, or the free one where it belongs. */
function findSlot({ ids, slots }: Slots, words: Uint32Array, at: number): number {
  let hash = words[at + 3]! ^ Math.imul(words[at + 2]!, 0x9e3779b1)
  hash ^= Math.imul(words[at]! ^ Math.imul(words[at + 1]!, 0xc2b2ae35), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d)
  for (let slot = hash ^ (hash >>> 13); ; slot++) {
    slot &= slots.length - 1
    const own = (slots[slot]! - 1) * idWords
    if (
      own < 0 ||
      (ids[own + 3] === words[at + 3] &&
        ids[own + 2] === words[at + 2] &&
        ids[own + 1] === words[at + 1] &&
        ids[own] === words[at])
    )
      return slot
  }
}

/** The id of the place has none, or another one. */
export const isDeleted = ({ deleted }: IdTable, place: number): boolean =>
  deleted !== null && has(deleted, place)

/** -1 for none. */
function placeOf(table: IdTable, words: Uint32Array, at: number): number {
  const { slots, added } = table
  const isCurrent = (place: number) => place >= 0 && !isDeleted(table, place)
  const place = slots[findSlot(table, words, at)]! - 1
  if (added.length === 0 || isCurrent(place)) return isCurrent(place) ? place : -1
  for (let i = added.length - 1; i >= 0; i--) {
    const { first, ids } = added[i]!
    const found = ids.slots[findSlot(ids, words, at)]! - 1
    if (found >= 0) return isCurrent(first + found) ? first + found : -1
  }
  return -1
}

/** Calls `visit` with the place of each id that the table has, and its index among those of `bytes`. */
export async function forEachOrdinal(
  table: IdTable,
  bytes: Buffer | null,
  visit: (place: number, i: number) => void,
): Promise<void> {
  if (!bytes) return
  const words = wordsOf(bytes)
  const count = words.length / idWords
  for (let i = 0; i < count; i++) {
    if (i % sliceIds === sliceIds - 1) await setImmediate()
    const place = placeOf(table, words, i * idWords)
    if (place >= 0) visit(place, i)
  }
}

/** The places of the ids that the table has, in their order. */
export async function placesOf(table: IdTable, bytes: Buffer | null): Promise<number[]> {
  const places: number[] = []
  await forEachOrdinal(table, bytes, place => void places.push(place))
  return places
}

/** The bytes of ids as words. */
export function wordsOf(bytes: Buffer): Uint32Array<ArrayBuffer> {
  const { length } = bytes
  const isAligned = bytes.byteOffset % 4 === 0
  const buffer = (isAligned ? bytes : Uint8Array.from(bytes)).buffer as ArrayBuffer
  return new Uint32Array(buffer, isAligned ? bytes.byteOffset : 0, length / 4)
}

/** In its 36-character form. */
export function idAt({ ids, added }: IdTable, place: number): string {
  const part = added.findLast(({ first }) => first <= place)
  const [words, at] = part ? [part.ids.ids, place - part.first] : [ids, place]
  const bytes = Buffer.from(words.buffer, words.byteOffset + at * idBytes, idBytes)
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}

/** An expression: the ids that a query of one column has, 16 bytes each; null for none, and without a query. */
export const idsOf = (sql: Queryable, query: Fragment | null | undefined): Fragment =>
  query
    ? sql`(select string_agg(uuid_send(i.id), ''::bytea) from (${query}) as i(id))`
    : sql`null::bytea`

const maxWorkers = '2'

/** Runs a statement that reads a text of very many books, once for all lists: it may use processors that are idle. */
export async function inParallel<Row>(sql: Sql, read: (tx: Sql) => Promise<Row>): Promise<Row> {
  const { result } = await sql.begin(async tx => {
    await tx`select set_config('max_parallel_workers_per_gather', ${maxWorkers}, true)`
    return { result: await read(tx as unknown as Sql) }
  })
  return result
}
