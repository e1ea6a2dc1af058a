// Random access to the entries of a solid stream: decompresses forward, and restarts only to go back.
import { Unreadable } from '../../base/errors.ts'
import type { ForwardReader } from './libarchive.ts'

/** Reads the members of a solid stream by number. */
export type SolidStream = Disposable & {
  /** The first `bytes` of member `number`, at most its size. Throws Unreadable. */
  read(number: number, bytes: number): Promise<Uint8Array>
}

/** `open` starts the stream from its beginning; members are numbered from zero. */
export function createSolidStream(open: () => Promise<ForwardReader>): SolidStream {
  let reader: ForwardReader | null = null
  let current = -1
  let buffered: Uint8Array = new Uint8Array()
  let failure: { number: number; error: unknown } | null = null

  const stop = () => {
    reader?.[Symbol.dispose]()
    reader = null
    current = -1
  }
  const advance = async (number: number, bytes: number) => {
    if (reader === null || number < current) {
      stop()
      reader = await open()
    }
    while (current < number) {
      if (!reader.next()) throw new Unreadable('The archive ends too early', 'truncated')
      current += 1
      buffered = new Uint8Array()
    }
    if (buffered.length < bytes) buffered = concat(buffered, reader.read(bytes - buffered.length))
    return buffered.subarray(0, bytes)
  }
  return {
    async read(number, bytes) {
      // Everything after a damaged member is lost; retrying would decompress the whole stream again.
      if (failure !== null && number >= failure.number) throw failure.error
      try {
        return await advance(number, bytes)
      } catch (error) {
        stop()
        failure = { number, error }
        throw error
      }
    },
    [Symbol.dispose]: stop,
  }
}

function concat(a: Uint8Array, b: Uint8Array): Uint8Array {
  if (a.length === 0) return b
  const both = new Uint8Array(a.length + b.length)
  both.set(a)
  both.set(b, a.length)
  return both
}
