// Reads what is told in any process, once for all clients of this one. Clients are not sent to: each
// holds a position and takes what comes after it, from memory or else from the table.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Sql } from 'postgres'
import { Unavailable } from '../errors.ts'
import type { Log } from '../log.ts'
import { bounds, type Page, rowsAfter, type Stream } from './event-rows.ts'
import { openRenderer, type Renderer } from './render.ts'
import { openRing } from './ring-buffer.ts'
import { type Listener, openListeners } from './subscribers.ts'

/** Times, in ms. */
export type Pace = {
  /** Between two comments that keep a connection alive. */
  keepAlive: number
  /** A client that took longer over a piece counts as slow. */
  slow: number
  /** One that took so long is broken off. */
  stuck: number
}
const usual: Pace = { keepAlive: 15_000, slow: 10_000, stuck: 300_000 }

const readingMs = 25
// A notice may get lost with its connection.
const lookMs = 5_000
const farewellMs = 1_000

export type Feed = {
  pace: Pace
  render: Renderer
  isClosing(): boolean
  /** The number up to which events were read; a stream that begins there misses nothing that comes. */
  tail(): number
  /** Throws Limited and Unavailable. Whoever has joined must leave. */
  join(joining: { accountId: string; stream: Stream; end: () => void }): Promise<Listener>
  after(position: number, stream: Stream): Promise<Page>
  /** Lets every stream say goodbye and end; those that do not take it are broken off. */
  close(): Promise<void>
}

/** `sql` listens and reads for all; what a single client asks for goes through `questions`. */
export async function openFeed({
  sql,
  questions,
  log,
  pace = {},
}: {
  sql: Sql
  questions: Sql
  log: Pick<Log, 'warn'>
  pace?: Partial<Pace> | undefined
}): Promise<Feed> {
  const ring = openRing()
  const table = sharedReads(questions)
  const times = { ...usual, ...pace }
  let waking: Promise<void> | null = null
  let isAwake = false
  let isClosing = false
  let isWanted = false
  let reading: Promise<void> | null = null

  const listeners = openListeners(() => {
    waking = null
    isAwake = false
  })

  /** Where the ring begins is where the first client begins. */
  function wake(): Promise<void> {
    const mine = (waking ??= bounds(sql).then(({ tail }) => {
      if (waking !== mine) return
      ring.reset(tail)
      isAwake = true
      // What was told since, while nobody listened here.
      look()
    }))
    mine.catch(() => {
      if (waking === mine) waking = null
    })
    return mine
  }

  function look() {
    isWanted = true
    reading ??= read()
      .catch(err => log.warn({ err }, 'events not read'))
      .finally(() => {
        reading = null
      })
  }

  async function read() {
    while (isWanted && isAwake && !isClosing) {
      isWanted = false
      const before = ring.tail()
      const page = await rowsAfter(sql, before)
      // Everybody left meanwhile, and others came.
      if (ring.tail() !== before || !isAwake) continue
      if (page.isLost) ring.reset(page.upTo)
      else ring.add(page.rows, page.upTo)
      if (page.rows.length > 0 || page.isLost) listeners.wakeAll()
      if (page.isFull) isWanted = true
      else await sleep(readingMs)
    }
  }

  const timer = setInterval(() => {
    if (isAwake) look()
    listeners.endStuck(times.stuck)
  }, lookMs).unref()
  const onNotice = (number: string) => {
    if (isAwake && !(Number(number) <= ring.tail())) look()
  }
  const listening = await sql.listen('event', onNotice, () => isAwake && look())

  return {
    pace: times,
    render: openRenderer(questions),
    isClosing: () => isClosing,
    tail: ring.tail,
    async join(joining) {
      if (isClosing) throw new Unavailable('The server is about to end')
      const listener = listeners.add(joining)
      try {
        await wake()
      } catch (error) {
        listener.leave()
        throw error
      }
      return listener
    },
    async after(position, stream) {
      return ring.after(position, stream) ?? (await table(position, stream))
    },
    async close() {
      isClosing = true
      clearInterval(timer)
      listeners.wakeAll()
      const end = Date.now() + farewellMs
      while (listeners.size() > 0 && Date.now() < end) await sleep(10)
      listeners.endAll()
      // A database that is away must not keep the server from closing.
      const rest = Promise.allSettled([reading, listening.unlisten()])
      await Promise.race([rest, sleep(farewellMs, undefined, { ref: false })])
    },
  }
}

/** Clients that come back together after a restart ask for the same pages. */
function sharedReads(sql: Sql) {
  const asked = new Map<string, Promise<Page>>()
  return (position: number, stream: Stream): Promise<Page> => {
    const key = `${stream} ${position}`
    const same = asked.get(key)
    if (same) return same
    const answer = rowsAfter(sql, position, stream).finally(() => asked.delete(key))
    asked.set(key, answer)
    return answer
  }
}
