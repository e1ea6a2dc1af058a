// Pages of rows as bytes for a listener; what listeners have in common is looked up and written once.
import { LRUCache } from 'lru-cache'
import type { Sql } from 'postgres'
import { isLimited, type Viewer } from '../auth/viewer.ts'
import { lookUp, mayHear, needsLook, type Seen, type Seer, sightOf } from './audience.ts'
import type { Row } from './event-rows.ts'
import { blocksOf } from './sse-format.ts'

/** Blocks of a row: how many, and the number of the last. */
export type Rendered = { bytes: Buffer; count: number; last: number }
type Listening = { seer: Seer; unnamed: boolean; position: number }
export type Renderer = (
  rows: readonly Row[],
  listening: Listening,
) => Promise<Generator<Rendered, void, void>>

const mostBytes = 48 * 1024 * 1024
// So long an answer about who sees what may be used for others who ask the same.
const sharedMs = 5_000

/** Renders what comes after `position`, row by row as it is taken. */
export function openRenderer(sql: Sql): Renderer {
  const written = new LRUCache<string, Buffer>({
    maxSize: mostBytes,
    sizeCalculation: bytes => bytes.length + 100,
  })
  const looks = new LRUCache<string, Promise<Seen>>({ max: 100, ttl: sharedMs })

  function look(rows: readonly Row[], seer: Seer, limits: string): Promise<Seen> {
    const asked = rows.filter(row => mayHear(row, seer) && needsLook(row, seer))
    if (asked.length === 0) return Promise.resolve(new Set<string>())
    const key = `${asked.map(row => row.number)} ${limits}`
    const same = looks.get(key)
    if (same) return same
    const answer = lookUp(sql, asked, seer.viewer)
    looks.set(key, answer)
    answer.catch(() => looks.delete(key))
    return answer
  }

  function write(row: Row, places: readonly number[] | undefined, of: Way): Buffer {
    const key = `${row.number} ${of.unnamed} ${places ? of.limits : ''}`
    const known = written.get(key)
    if (known) return known
    const bytes = blocksOf(row, of, places)
    // What a row says never changes, but who sees which of its events may.
    written.set(key, bytes, places ? { ttl: sharedMs } : {})
    return bytes
  }

  function* render(rows: readonly Row[], { seer, position }: Listening, of: Way & { seen: Seen }) {
    for (const row of rows) {
      if (!mayHear(row, seer)) continue
      const sight = sightOf(row, seer, of.seen)
      if (sight === 'none') continue
      const first = row.number - row.count + 1
      if (first <= position) {
        const all = sight === 'all' ? [...Array(row.count).keys()] : sight
        const rest = all.filter(place => first + place > position)
        if (rest.length > 0)
          yield { bytes: blocksOf(row, of, rest), count: rest.length, last: first + rest.at(-1)! }
      } else if (sight === 'all') {
        yield { bytes: write(row, undefined, of), count: row.count, last: row.number }
      } else {
        yield { bytes: write(row, sight, of), count: sight.length, last: first + sight.at(-1)! }
      }
    }
  }

  return async (rows, listening) => {
    const { seer, unnamed } = listening
    const limits = isLimited(seer.viewer) ? limitsOf(seer.viewer) : ''
    const seen = await look(rows, seer, limits)
    return render(rows, listening, { unnamed, limits, seen })
  }
}

type Way = { unnamed: boolean; limits: string }

// The same for accounts with the same limits.
function limitsOf({ allowedTags, deniedTags, ageLimit, showsUnrated }: Viewer): string {
  return JSON.stringify([[...allowedTags].sort(), [...deniedTags].sort(), ageLimit, showsUnrated])
}
