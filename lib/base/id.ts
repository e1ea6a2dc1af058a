// UUID version 7 (RFC 9562): time-ordered, so that new rows are appended to indexes.
//
//   48 bits of milliseconds | 4 of version | 12 of a counter | 2 of variant | 62 random
import { randomFillSync } from 'node:crypto'

const pool = Buffer.alloc(16 * 256)
let used = pool.length

const maxCounter = 0xfff
/** If the clock goes back further, someone has set it; the new time is used. */
const maxClockSkewMs = 10_000
let last = 0
let counter = 0

/**
 * A new UUIDv7 in 36-character form, greater than all earlier ones of this thread (section 6.2, method 1).
 */
export function newId(): string {
  if (used === pool.length) {
    randomFillSync(pool)
    used = 0
  }
  const bytes = pool.subarray(used, (used += 16))
  advance(Date.now(), bytes[7]!)
  bytes.writeUIntBE(last, 0, 6)
  bytes.writeUInt16BE(0x7000 | counter, 6)
  bytes[8] = (bytes[8]! & 0x3f) | 0x80
  const hex = bytes.toString('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}

/** Increments the counter within a millisecond and while the clock is behind; on overflow, the milliseconds. */
function advance(now: number, start: number) {
  const isLater = now > last || last - now > maxClockSkewMs
  if (!isLater && counter < maxCounter) counter += 1
  else {
    last = isLater ? now : last + 1
    counter = start
  }
}

/** The smallest id of a time: all ids generated before are smaller. */
export function firstIdAt(time: Date): string {
  const hex = time.getTime().toString(16).padStart(12, '0')
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-000000000000`
}

/** The time at which an id was generated. */
export function timeOfId(id: string): Date {
  return new Date(Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16))
}

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** Whether a text has the form of an id, in any case. */
export const isUuid = (text: string): boolean => uuid.test(text)
