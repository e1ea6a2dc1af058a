// Interleaved items: order, computing one at a time, bounded memory, and which item is reported.
import { setImmediate as nextRound } from 'node:timers/promises'
import t from 'tap'
import { createDiskQueue } from '../../../lib/base/async/disk-queue.ts'
import { type DiskAccess, interleave } from '../../../lib/base/async/interleave.ts'

type Options = { depth?: number; slots?: number; maxBytes?: number; hasTime?: () => boolean }

function run<I, O>(items: I[], options: Options, task: (item: I, disk: DiskAccess) => Promise<O>) {
  const { depth = 8, slots = 1, maxBytes = 1000, hasTime = () => true } = options
  const reported: number[] = []
  const onProgress = (index: number) => void reported.push(index)
  const queue = createDiskQueue({ depth })
  return {
    reported,
    done: interleave(items, { queue, slots, maxBytes, onProgress, hasTime }, task),
  }
}

/** Items 0 to `count - 1`. */
const indexes = (count: number) => Array.from({ length: count }, (_, i) => i)

t.before(() => {
  process.env.UV_THREADPOOL_SIZE = '128'
})

t.test('a slow disk is used by several items while one computes', async t => {
  let waiting = 0
  let mostWaiting = 0
  let computing = 0
  const { done } = run(indexes(40), {}, async (item, disk) => {
    for (let i = 0; i < 3; i++) {
      await disk.wait(async () => {
        mostWaiting = Math.max(mostWaiting, ++waiting)
        await disk.call(() => nextRound())
        waiting -= 1
      })
      t.equal(++computing, 1)
      await nextRound()
      computing -= 1
    }
    return item * 2
  })
  t.same(
    await done,
    indexes(40).map(i => i * 2),
  )
  t.equal(mostWaiting, 8)
})

t.test('on a fast disk as many items run as compute at the same time', async t => {
  for (const slots of [1, 2]) {
    let running = 0
    const { done, reported } = run(indexes(10), { depth: 1, slots }, async (item, disk) => {
      t.notOk(disk.isSlow)
      t.ok(++running <= slots)
      await nextRound()
      running -= 1
      return item
    })
    t.same(await done, indexes(10))
    t.same(
      reported,
      reported.toSorted((a, b) => a - b),
    )
  }
})

t.test('after its time the items that were started are finished, and no others', async t => {
  let started = 0
  const { done } = run(indexes(20), { hasTime: () => started < 5 }, async (item, disk) => {
    started += 1
    await disk.wait(() => nextRound())
    return item
  })
  t.same(await done, indexes(5))
  t.same(await run(indexes(3), { hasTime: () => false }, async item => item).done, [0])
  t.same(await run([], {}, async item => item).done, [])
})

t.test('items hold no more memory than permitted, except the first', async t => {
  let held = 0
  let most = 0
  const { done } = run(indexes(30), { maxBytes: 100 }, async (item, disk) => {
    const bytes = item === 7 ? 500 : 40
    await disk.wait(async () => {
      held += bytes
      if (item !== 7) most = Math.max(most, held)
      await nextRound()
    }, bytes)
    await nextRound()
    held -= bytes
    disk.free(bytes)
    return item
  })
  t.same(await done, indexes(30))
  // Two of 40; a third where it was the first unfinished one.
  t.ok(most <= 120, String(most))
})

t.test('an item that fails is reported last, after the others have ended', async t => {
  let ended = 0
  const { done, reported } = run(indexes(8), {}, async (item, disk) => {
    await disk.wait(() => nextRound())
    if (item === 5) throw new Error('of item 5')
    await disk.wait(() => nextRound())
    ended += 1
  })
  await t.rejects(done, { message: 'of item 5' })
  t.equal(ended, 7)
  t.equal(reported.at(-1), 5)
})
