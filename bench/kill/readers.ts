// Readers of a server while its database is killed: lists, feeds, pages, progress, and the time to the first
// answer after a kill.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Random } from '../../test/kit/random.ts'
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

/** Statuses are counted; anything but 200, 204 and a 503 with Retry-After is a problem. */
export function startReaders(bases: string[], key: string, count: number, random: Random) {
  const statuses: Record<string, number> = {}
  const problems = new Map<string, number>()
  const followed = new Map<string, Followed>()
  let isOver = false

  const ask = async (base: string, path: string, init: RequestInit = {}) => {
    try {
      const answer = await fetch(`${base}${path}`, {
        ...init,
        headers: { 'x-api-key': key, 'content-type': 'application/json' },
      })
      const body = await answer.text()
      const isPlain = answer.status === 503 && answer.headers.has('retry-after')
      const status = answer.status === 503 && !isPlain ? '503 without Retry-After' : answer.status
      statuses[status] = (statuses[status] ?? 0) + 1
      if (!answer.ok && !isPlain) {
        const problem = `${answer.status} ${path.replace(/[0-9a-f-]{36}/, '{id}')} ${body.slice(0, 120)}`
        problems.set(problem, (problems.get(problem) ?? 0) + 1)
      }
      return { status: answer.status, body }
    } catch (error) {
      const { cause, message } = error as Error
      const problem = `${path.replace(/[0-9a-f-]{36}/, '{id}')}: ${cause ?? message}`
      problems.set(problem, (problems.get(problem) ?? 0) + 1)
      return { status: 0, body: '' }
    }
  }

  async function read(turn: number) {
    for (let n = turn; !isOver; n++) {
      await ask(bases[n % bases.length]!, paths[n % paths.length]!)
      await sleep(20)
    }
  }

  /** What was acknowledged has to be there at the end; what was not is sent again. */
  async function write() {
    for (let page = 0; !isOver; page++) {
      const book = random.pick([...followed.values()])
      if (book) {
        const body = JSON.stringify({ currentPage: page % 3 === 0 ? 0 : 1 })
        const base = bases[page % bases.length]!
        for (;;) {
          const { status } = await ask(base, `/api/v1/books/${book.id}/progress`, {
            method: 'PUT',
            body,
          })
          if (status === 200 || status === 204) break
          // Gone with a scan, or renamed: no longer followed.
          if (status === 404) {
            followed.delete(book.id)
            break
          }
          await sleep(50)
        }
        book.page = JSON.parse(body).currentPage
      }
      await sleep(30)
    }
  }

  const done = [...Array.from({ length: count }, (_, i) => read(i)), write()]
  return {
    statuses,
    problems,
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
