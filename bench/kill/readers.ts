// Readers of a server while its database is killed: lists, feeds, pages, progress, and the time to the first
// answer after a kill.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Random } from '../../test/kit/random.ts'
import type { Requests } from './requests.ts'
import type { Followed } from './truth.ts'

const paths = [
  '/api/v1/books?pageSize=20',
  '/api/v1/series?pageSize=20',
  '/opds/v1.2',
  '/opds/v2',
  '/health',
  '/api/v1/tasks',
]
const maxBooks = 60

type Reader = { key: string; count: number; random: Random }

export function startReaders(requests: Requests, bases: string[], { key, count, random }: Reader) {
  const followed = new Map<string, Followed>()
  let isOver = false

  async function read(turn: number) {
    for (let n = turn; !isOver; n++) {
      await requests.ask(bases[n % bases.length]!, key, paths[n % paths.length]!)
      await sleep(20)
    }
  }

  /** What was acknowledged has to be there at the end; what was not is sent again. */
  async function write() {
    for (let page = 0; !isOver; page++) {
      const book = random.pick([...followed.values()])
      if (book) {
        const body = { currentPage: page % 3 === 0 ? 0 : 1 }
        const path = `/api/v1/books/${book.id}/progress`
        const { status } = await requests.untilDone(bases, key, path, { method: 'PUT', body })
        // Gone with a scan, or renamed: no longer followed.
        if (status === 404) followed.delete(book.id)
        book.page = body.currentPage
      }
      await sleep(30)
    }
  }

  const done = [...Array.from({ length: count }, (_, i) => read(i)), write()]
  return {
    followed,
    follow(books: readonly Followed[]) {
      for (const book of books.slice(0, maxBooks)) followed.set(book.id, { ...book, page: -1 })
    },
    /** The books with progress. */
    written: () => [...followed.values()].filter(({ page }) => page >= 0),
    /** Milliseconds from now to the first 200 after the first other answer; 0 when no other came. */
    async untilServed(base: string): Promise<number> {
      const start = performance.now()
      let hasFailed = false
      for (;;) {
        const status = await fetch(`${base}/api/v1/books?pageSize=1`, {
          headers: { 'x-api-key': key },
        }).then(
          async answer => {
            await answer.arrayBuffer()
            return answer.status
          },
          () => 0,
        )
        const ms = performance.now() - start
        if (status !== 200) hasFailed = true
        else if (hasFailed) return ms
        else if (ms > 1_500) return 0
        if (ms > 120_000) return ms
        await sleep(10)
      }
    },
    async end() {
      isOver = true
      await Promise.all(done)
    },
  }
}

/** Median and worst of times that are not 0, in milliseconds. */
export function timesOf(all: readonly number[]) {
  const sorted = all.filter(ms => ms > 0).sort((a, b) => a - b)
  const at = (share: number) => Math.round(sorted[Math.floor((sorted.length - 1) * share)] ?? 0)
  return { noticed: sorted.length, medianMs: at(0.5), worstMs: at(1) }
}
