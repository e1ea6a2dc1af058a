// Entry of a pool thread. No database, no queue, no configuration here: values come in, values go out.

import type { Order } from '../../lib/async/thread-pool.ts'
import { readBook } from './extract.ts'
import { hashFile } from './hash.ts'
import { makeThumbnail } from './thumbnail.ts'

// A slice ends after this long, so that the first result of a slow file is not held back by the rest.
// Nobody waits for a hash: there a long slice saves round trips.
const slices = {
  read: { ms: 100, abreast: 1 },
  cover: { ms: 250, abreast: 2 },
  hash: { ms: 1_000, abreast: 1 },
}

type Each<I, R, O> = (item: I, rules: R, tick: () => void) => Promise<O> | O

/** The same, and how long it took. */
async function timed<O extends object>(run: () => Promise<O> | O): Promise<O & { ms: number }> {
  const began = performance.now()
  const out = await run()
  return Object.assign(out, { ms: performance.now() - began })
}

/** `abreast` items at a time; a pair overlaps the reading of one file with the image work of the other. */
function sliced<I, R, O extends object>(
  { ms, abreast }: { ms: number; abreast: number },
  each: Each<I, R, O>,
) {
  return async ({ items, rules, pulse }: Order<I, R>): Promise<O[]> => {
    const end = performance.now() + ms
    const done: O[] = []
    const tick = () => {
      Atomics.add(pulse, 1, 1)
    }
    const goesOn = () => performance.now() < end && Atomics.load(pulse, 2) === 0
    for (let i = 0; i < items.length && (i === 0 || goesOn()); i += abreast) {
      Atomics.store(pulse, 0, i)
      tick()
      const some = items.slice(i, i + abreast)
      done.push(...(await Promise.all(some.map(item => timed(() => each(item, rules, tick))))))
    }
    return done
  }
}

export const read = sliced(slices.read, readBook)
export const cover = sliced(slices.cover, makeThumbnail)
export const hash = sliced(slices.hash, hashFile)
