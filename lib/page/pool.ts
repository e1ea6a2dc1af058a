// The threads that take pages out of books and make images of them, behind a waiting line.

import { openThreads, type ThreadOptions } from '../async/thread-pool.ts'
import { openLine } from '../async/work-queue.ts'
import { NotFound, Unreadable } from '../errors.ts'
import { pageCounters } from './counters.ts'
import type { Directory } from './directory.ts'
import type {
  Answer,
  ConvertOrder,
  Cover,
  CoverOrder,
  Epub,
  FrontOrder,
  Image,
  Member,
  MemberOrder,
  PageOrder,
  Place,
  RunOrder,
} from './messages.ts'

export type PagePool = ReturnType<typeof openPagePool>

type Tasks = {
  directory: { order: Place; value: Directory }
  page: { order: PageOrder; value: Image }
  front: { order: FrontOrder; value: Image }
  run: { order: RunOrder; value: Image }
  convert: { order: ConvertOrder; value: Image }
  cover: { order: CoverOrder; value: Cover }
  epub: { order: Place; value: Epub }
  member: { order: MemberOrder; value: Member }
}

export type Changed = { changed: { size: number; modifiedMs: number } }

const waiting = 512
const mostWeight = 128 * 1024 * 1024
/** Of a page whose size in pixels is not known. */
export const unknownWeight = 64 * 1024 * 1024

/** Each thread works on one page at a time; what is under way may weigh 128 MB, or is alone. */
export function openPagePool(options: Omit<ThreadOptions, 'file' | 'idleMs' | 'keep'>) {
  const file = new URL('./worker.ts', import.meta.url)
  const threads = openThreads({ ...options, file, idleMs: 30_000, keep: 0 })
  const line = openLine({ slots: threads.size, weight: mostWeight, waiting })
  return {
    /**
     * Throws NotFound for a file or a page that is not there, Unreadable, and Unavailable (503) when too
     * many wait or nobody waits for this one any more.
     */
    async run<T extends keyof Tasks>(
      task: T,
      order: Tasks[T]['order'],
      { weighs, signal }: { weighs: number; signal?: AbortSignal | undefined },
    ): Promise<Tasks[T]['value'] | Changed> {
      const work = async () => {
        pageCounters.tasks += 1
        const given = { items: [order], rules: null }
        const { done, failure } = await threads.run<unknown, null, Answer<Tasks[T]['value']>>(
          task,
          given,
        )
        return failure ? { error: failure, gone: false } : done[0]!
      }
      const answer = await line.run(weighs, work, signal)
      if ('value' in answer) return answer.value
      if ('changed' in answer) return answer
      if ('absent' in answer) throw new NotFound('The book has no such page')
      const { code, message } = answer.error
      if (answer.gone) throw new NotFound('The file of the book is not there')
      throw new Unreadable(message, code)
    },
    close: threads.close,
  }
}
