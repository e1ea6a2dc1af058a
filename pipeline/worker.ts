// Entry of a pool thread. No database, no queue, no configuration here: values come in, values go out.

import { readBook } from './extract.ts'
import { hashFile } from './hash.ts'
import type { Order } from './threads.ts'
import { makeThumbnail } from './thumbnail.ts'

// A slice ends after this long, so that the first result of a slow file is not held back by the rest.
// Nobody waits for a hash: there a long slice saves round trips.
const sliceMs = { read: 100, cover: 250, hash: 1_000 }

type Each<I, R, O> = (item: I, rules: R, tick: () => void) => Promise<O> | O

function sliced<I, R, O>(ms: number, each: Each<I, R, O>) {
  return async ({ items, rules, pulse }: Order<I, R>): Promise<O[]> => {
    const end = performance.now() + ms
    const done: O[] = []
    const tick = () => {
      Atomics.add(pulse, 1, 1)
    }
    for (let i = 0; i < items.length && (i === 0 || performance.now() < end); i++) {
      Atomics.store(pulse, 0, i)
      tick()
      done.push(await each(items[i]!, rules, tick))
    }
    return done
  }
}

export const read = sliced(sliceMs.read, readBook)
export const cover = sliced(sliceMs.cover, makeThumbnail)
export const hash = sliced(sliceMs.hash, hashFile)
