// Read-ahead in solid archives: how many pages to unpack at a time. Every run also unpacks everything before
// it, so runs double in length: reading page by page then costs about twice the archive rather than its
// square.
import { LRUCache } from 'lru-cache'
import { createKeyedMutex } from '../base/async/keyed-mutex.ts'

export type ReadAhead = ReturnType<typeof createReadAhead>

const firstRunPages = 8
const maxRunPages = 1024

export function createReadAhead() {
  const books = new LRUCache<string, { next: number; length: number }>({ max: 1000 })
  const lock = createKeyedMutex()

  /** The length of the run from page `index`; a run that continues the previous one is twice as long. */
  function nextRunLength(book: string, index: number): number {
    const previous = books.get(book)
    const isContinued = previous !== undefined && previous.next === index
    const length = isContinued ? Math.min(previous.length * 2, maxRunPages) : firstRunPages
    books.set(book, { next: index + length, length })
    return length
  }

  return {
    /**
     * Runs `work` when no other run of `book` is being unpacked; `work` calls `nextLength` only if it needs a
     * run.
     */
    run: <T>(book: string, work: (nextLength: (index: number) => number) => Promise<T>) =>
      lock(book, () => work(index => nextRunLength(book, index))),
  }
}
