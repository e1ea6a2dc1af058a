// How far a solid archive is unpacked at a time. Every run unpacks all that lies before it as well, so
// runs that double make reading page by page cost about twice the archive, and not its square.
import { LRUCache } from 'lru-cache'

export type Runs = ReturnType<typeof openRuns>

const first = 8
const longest = 1024

export function openRuns() {
  const books = new LRUCache<string, { next: number; length: number }>({ max: 1000 })
  const turns = new Map<string, Promise<unknown>>()
  return {
    /** Runs `work` when nothing else is under way for `book`; it asks for the length only when it needs a run. */
    async inTurn<T>(
      book: string,
      work: (length: (index: number) => number) => Promise<T>,
    ): Promise<T> {
      const before = turns.get(book)
      const turn = (async () => {
        await before?.catch(() => {})
        return work(index => lengthFor(book, index))
      })()
      turns.set(book, turn)
      try {
        return await turn
      } finally {
        if (turns.get(book) === turn) turns.delete(book)
      }
    },
  }

  function lengthFor(book: string, index: number): number {
    const before = books.get(book)
    const isNext = before !== undefined && before.next === index
    const length = isNext ? Math.min(before.length * 2, longest) : first
    books.set(book, { next: index + length, length })
    return length
  }
}
