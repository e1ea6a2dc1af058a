// Entries of a solid stream: played forward once, restarted only to go back.
import { Unreadable } from '../errors.ts'
import type { Pass } from './libarchive.ts'

/** Reads members of a stream by number. */
export type Sequence = Disposable & {
  /** The first `bytes` of member `number`; the caller keeps it within the size of the member. Throws Unreadable. */
  take(number: number, bytes: number): Promise<Uint8Array>
}

/** `open` starts the stream from its beginning; members count from zero. */
export function sequence(open: () => Promise<Pass>): Sequence {
  let pass: Pass | null = null
  let current = -1
  let kept: Uint8Array = new Uint8Array()
  let broken: { number: number; error: unknown } | null = null

  const stop = () => {
    pass?.[Symbol.dispose]()
    pass = null
    current = -1
  }
  const advance = async (number: number, bytes: number) => {
    if (pass === null || number < current) {
      stop()
      pass = await open()
    }
    while (current < number) {
      if (!pass.next()) throw new Unreadable('The archive ends too early', 'truncated')
      current += 1
      kept = new Uint8Array()
    }
    if (kept.length < bytes) kept = joined(kept, pass.read(bytes - kept.length))
    return kept.subarray(0, bytes)
  }
  return {
    async take(number, bytes) {
      // What follows a damaged member of a solid stream is lost; asking again would replay it all.
      if (broken !== null && number >= broken.number) throw broken.error
      try {
        return await advance(number, bytes)
      } catch (error) {
        stop()
        broken = { number, error }
        throw error
      }
    },
    [Symbol.dispose]: stop,
  }
}

function joined(a: Uint8Array, b: Uint8Array): Uint8Array {
  if (a.length === 0) return b
  const both = new Uint8Array(a.length + b.length)
  both.set(a)
  both.set(b, a.length)
  return both
}
