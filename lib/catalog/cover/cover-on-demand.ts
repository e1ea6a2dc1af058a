// Has the cover that someone looks at made before all others, and waits for it a moment. Bounded: who
// comes when many wait already, or when nobody seems to work, is not kept waiting.
import { LRUCache } from 'lru-cache'
import type { Sql } from 'postgres'
import type { Queue } from '../../queue/queue.ts'
import type { Due } from './missing-cover.ts'

const most = 64
const patienceMs = 2_000
// After this long a book whose cover was not made, or workers that were not heard, are tried again.
const restMs = 10_000
// Somebody waits, while those who ask for a cover to be made do not.
const priority = 100

type Waits = {
  /** What lets those go who wait for a book. */
  ears: Map<string, () => void>
  /** One wait a book, for all that look at it. */
  under: Map<string, Promise<void>>
  tried: LRUCache<string, true>
  waiting: number
  heardAt: number
  restUntil: number
  listening: Promise<unknown>
}

const kept = new WeakMap<Sql, Waits>()

/** Resolves when it is worth to look whether there is a cover now; false when nothing was waited for. */
export async function awaitCover(sql: Sql, queue: Queue, due: Due): Promise<boolean> {
  const waits = kept.get(sql) ?? listen(sql)
  if (waits.waiting >= most || waits.tried.has(due.bookId) || Date.now() < waits.restUntil)
    return false
  waits.waiting += 1
  try {
    const known = waits.under.get(due.bookId)
    const wait = known ?? ask(sql, queue, { waits, due })
    waits.under.set(due.bookId, wait)
    await wait
    return true
  } finally {
    waits.waiting -= 1
  }
}

async function ask(sql: Sql, queue: Queue, { waits, due }: { waits: Waits; due: Due }) {
  const { bookId, libraryId } = due
  const began = Date.now()
  let timer: NodeJS.Timeout | undefined
  try {
    await waits.listening
    const heard = new Promise<void>(resolve => waits.ears.set(bookId, resolve))
    const job = { libraryId, bookId }
    await sql.begin(tx => queue.send(tx, 'show', [job], { key: bookId, priority }))
    const tired = new Promise<void>(resolve => {
      timer = setTimeout(() => {
        waits.tried.set(bookId, true)
        if (waits.heardAt < began) waits.restUntil = Date.now() + restMs
        resolve()
      }, patienceMs)
    })
    await Promise.race([heard, tired])
  } finally {
    clearTimeout(timer)
    waits.ears.delete(bookId)
    waits.under.delete(bookId)
  }
}

function listen(sql: Sql): Waits {
  const waits: Waits = {
    ears: new Map(),
    under: new Map(),
    tried: new LRUCache({ max: 2_000, ttl: restMs }),
    waiting: 0,
    heardAt: 0,
    restUntil: 0,
    listening: Promise.resolve(),
  }
  kept.set(sql, waits)
  const hear = (told: string) => {
    const [bookId, without] = told.split(' ')
    waits.heardAt = Date.now()
    waits.restUntil = 0
    if (without) waits.tried.set(bookId!, true)
    waits.ears.get(bookId!)?.()
  }
  // Also after a lost connection: nobody knows what was said meanwhile.
  const hearAll = () => {
    for (const heard of waits.ears.values()) heard()
  }
  waits.listening = sql.listen('shown', hear, hearAll).catch(error => {
    kept.delete(sql)
    throw error
  })
  return waits
}
