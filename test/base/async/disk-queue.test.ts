// Depth of a queue of disk calls, from their latency and from the setting.
import { setImmediate as later } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { createDepth, createDiskQueue } from '../../../lib/base/async/disk-queue.ts'
import { loadConfig } from '../../../lib/store/config/config.ts'

const environment = (t: Test, threads: number) => {
  const before = process.env.UV_THREADPOOL_SIZE
  process.env.UV_THREADPOOL_SIZE = String(threads)
  t.teardown(() => {
    if (before === undefined) delete process.env.UV_THREADPOOL_SIZE
    else process.env.UV_THREADPOOL_SIZE = before
  })
}

/** A disk whose calls end only when `finish` is called: the greatest number in flight. */
function heldDisk() {
  const held: (() => void)[] = []
  let most = 0
  return {
    call: () =>
      new Promise<void>(resolve => {
        held.push(resolve)
        most = Math.max(most, held.length)
      }),
    async finish() {
      while (held.length > 0) {
        held.shift()!()
        await later()
      }
    },
    most: () => most,
  }
}

t.test('a disk is slow when most calls take long, not when single ones do', t => {
  const queue = createDiskQueue({ depth: 0 })
  for (let i = 0; i < 100; i++) {
    queue.record(20)
    queue.record(0.01)
  }
  t.equal(queue.isSlow(), false)
  for (let i = 0; i < 8; i++) queue.record(1)
  t.equal(queue.isSlow(), true)
  t.end()
})

t.test('a configured depth decides instead of the latency', async t => {
  environment(t, 128)
  const single = createDiskQueue({ depth: 1 })
  for (let i = 0; i < 100; i++) single.record(50)
  t.equal(single.isSlow(), false)
  t.equal(createDiskQueue({ depth: 2 }).isSlow(), true)
  const disk = heldDisk()
  const queue = createDiskQueue({ depth: 20 })
  const ended = queue.each(new Array(50).fill(0), disk.call)
  await disk.finish()
  await ended
  t.equal(disk.most(), 20)
})

t.test('the largest depth of the configuration fits into the pool of the launcher', async t => {
  environment(t, 128)
  const disk = heldDisk()
  const depth = 48
  const ended = createDiskQueue({ depth }).each(new Array(100).fill(0), disk.call)
  await disk.finish()
  await ended
  t.equal(disk.most(), depth)
  const flags = { data_dir: '/nowhere' }
  t.equal(
    loadConfig({ env: {}, flags: { ...flags, 'pipeline.io_depth': depth } }).pipeline.io_depth,
    depth,
  )
  t.throws(() => loadConfig({ env: {}, flags: { ...flags, 'pipeline.io_depth': depth + 1 } }))
})

t.test('a disk that hangs leaves most of the pool', async t => {
  environment(t, 16)
  const disk = heldDisk()
  const queue = createDiskQueue({ depth: 64 })
  const ended = Promise.all([
    queue.each(new Array(50).fill(0), disk.call),
    queue.each(new Array(50).fill(0), disk.call),
  ])
  let isFree = false
  void queue.whenFree().then(() => {
    isFree = true
  })
  await later()
  t.equal(disk.most(), 6)
  t.equal(isFree, false)
  await disk.finish()
  await ended
  t.equal(disk.most(), 6)
  t.equal(isFree, true)
})

t.test('results are in the order of the items, and a failed call frees its place', async t => {
  const queue = createDiskQueue({ depth: 2 })
  t.same(await queue.each([3, 1, 2], async n => n * 2), [6, 2, 4])
  for (let i = 0; i < 5; i++)
    await t.rejects(
      queue.run(() => Promise.reject(new Error('EIO'))),
      { message: 'EIO' },
    )
  t.equal(await queue.run(async () => 'read'), 'read')
})

t.test('depth grows while latency stays, and falls when calls wait for each other', t => {
  /** The depths after warming up, with the latency of a call at a depth. */
  const depths = (latencyMs: (depth: number, call: number) => number) => {
    const adapted = createDepth(64)
    adapted.start(latencyMs(1, 0))
    let depth = 8
    return Array.from({ length: 5_000 }, (_, call) => {
      depth = adapted.next(latencyMs(depth, call), depth)
      return depth
    }).slice(1_000)
  }
  const least = (all: number[]) => Math.min(...all)
  t.equal(least(depths(() => 5)), 64)
  t.equal(least(depths((_, call) => (call % 100 === 0 ? 300 : 5))), 64)
  // Answers from a cache say nothing about the disk.
  t.equal(least(depths((_, call) => (call % 2 === 0 ? 0.05 : 40))), 64)
  // One call after the other, each 1 ms: more in flight only wait.
  t.ok(Math.max(...depths(depth => depth)) <= 16)
  t.ok(least(depths(depth => depth)) >= 2)
  // A disk that becomes slower for good.
  t.equal(depths((_, call) => (call < 500 ? 5 : 50)).at(-1), 64)
  t.end()
})
