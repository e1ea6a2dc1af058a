// Urgent and normal batches on one thread.
import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { openThreadPool } from '../../../lib/base/async/thread-pool.ts'
import { programFile } from '../../../lib/base/package.ts'
import { defaultLimits } from '../../../lib/media/archive/limits.ts'
import type { FileToHash, HashOptions, HashResult } from '../../../pipeline/index/hash-file.ts'
import { runBatch } from '../../../pipeline/work/threads.ts'
import { temporaryFolder } from '../../kit/files/folders.ts'

t.test('an urgent batch interrupts a running one and overtakes a waiting one', async t => {
  const root = temporaryFolder(t)
  const path = join(root, 'large.bin')
  writeFileSync(path, randomBytes(16 * 1024 * 1024))
  const threads = openThreadPool({
    file: programFile('pipeline/index/worker'),
    idleMs: 10_000,
    maxThreads: 1,
    timeoutMs: 120_000,
    memoryMb: 256,
    workerData: { ioDepth: 0, threads: 1 },
    onBug: error => t.fail(String(error)),
  })
  t.teardown(() => threads.close())
  const ended: string[] = []
  let calls = 0
  const containment = { root, followLinks: false, dataDir: '/nowhere', linkFolders: [] }
  const file = { id: '1', path, containment, size: 16 * 1024 * 1024, modifiedMs: 0, sha256: null }
  const hash = async (name: string, times: number, urgent: boolean) => {
    const counts: number[] = []
    const items = Array.from({ length: times }, () => file)
    const batch = { items, options: { limits: defaultLimits } }
    await runBatch<FileToHash, HashOptions, HashResult>(threads, 'hash', batch, {
      root,
      urgent,
      isStopped: () => ended.includes('urgent') && name !== 'urgent',
      failed: (item, error) => ({
        ...{ ...item, sha256: null, bytesRead: 0, damage: null, isUnchecked: false },
        error,
      }),
      onResults: async results => {
        counts.push(results.length)
        calls += 1
      },
    })
    ended.push(name)
    return counts
  }
  await hash('first', 1, false)
  const bulk = [hash('bulk 1', 10_000, false), hash('bulk 2', 10_000, false)]
  await sleep(100)
  const before = calls
  t.same(await hash('urgent', 1, true), [1])
  t.ok(calls - before <= 3, 'after at most the running calls of both')
  await Promise.all(bulk)
  t.same(ended.slice(0, 2), ['first', 'urgent'])
})

t.test('an item that hangs runs last, and only once for its whole time limit', async t => {
  const names = ['a', 'b', 'c', 'd', 'e', 'f']
  for (const bad of names) {
    const waited: number[] = []
    // As a thread: it returns early, and its results are lost when an item fails.
    const run = async (
      _task: string,
      { items }: { items: string[] },
      { timeoutMs }: { timeoutMs: number },
    ) => {
      const failedIndex = items.slice(0, 3).indexOf(bad)
      if (failedIndex === -1) return { done: items.slice(0, 3), failure: null, failedIndex }
      waited.push(timeoutMs)
      return { done: [], failure: { code: 'timeout', message: 'x' }, failedIndex }
    }
    const results: string[] = []
    await runBatch<string, null, string>(
      { run, timeoutMs: 60_000 } as never,
      'read',
      { items: names, options: null },
      {
        root: '/nowhere',
        isStopped: () => false,
        failed: item => `${item} failed`,
        onResults: async (some, items) => {
          t.equal(some.length, items.length)
          results.push(...some)
        },
      },
    )
    t.same(results, [...names.filter(name => name !== bad), `${bad} failed`])
    t.same(waited, [10_000, 60_000], bad)
  }
})

t.test('a slow item that is blamed for another succeeds alone', async t => {
  const run = async (_task: string, { items }: { items: string[] }) => {
    // Both run at once; the first is blamed.
    const failedIndex = items.includes('hangs') ? 0 : -1
    if (failedIndex === -1) return { done: items, failure: null, failedIndex }
    return { done: [], failure: { code: 'timeout', message: 'x' }, failedIndex }
  }
  const results: string[] = []
  await runBatch<string, null, string>(
    { run, timeoutMs: 60_000 } as never,
    'cover',
    { items: ['slow', 'hangs', 'good'], options: null },
    {
      root: '/nowhere',
      isStopped: () => false,
      failed: item => `${item} failed`,
      onResults: async some => void results.push(...some),
    },
  )
  t.same(results.sort(), ['good', 'hangs failed', 'slow'])
})

t.test('a file that fails for want of memory counts only in a new thread', async t => {
  for (const maxThreads of [1, 2]) {
    const threads = openThreadPool({
      file: join(import.meta.dirname, 'worn-worker.ts'),
      idleMs: 10_000,
      maxThreads,
      timeoutMs: 120_000,
      memoryMb: 256,
      workerData: { ioDepth: 0, threads: maxThreads },
      onBug: error => t.fail(String(error)),
    })
    t.teardown(() => threads.close())
    const names = ['a', 'b', 'large', 'c', 'too large', 'large', 'd']
    const run = async () => {
      const results: string[] = []
      const items = names.map(name => ({ name }))
      await runBatch<{ name: string }, null, { name: string; error: { code: string } | null }>(
        threads,
        'read',
        { items, options: null },
        {
          root: '/nowhere',
          isStopped: () => false,
          failed: ({ name }, error) => ({ name, error }),
          onResults: async some => {
            for (const { name, error } of some)
              results.push(error ? `${name}: ${error.code}` : name)
          },
        },
      )
      return results.sort()
    }
    const expected = ['a', 'b', 'c', 'd', 'large', 'large', 'too large: memory']
    // At once: every thread is a used one then.
    for (const results of await Promise.all([run(), run(), run()])) t.same(results, expected)
  }
})
