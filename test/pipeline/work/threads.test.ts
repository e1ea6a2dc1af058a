// Bulk work and work that someone waits for, on one thread.
import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import type { FileToHash, Hashed } from '../../../pipeline/index/hash.ts'
import { openThreads, runAll } from '../../../pipeline/work/threads.ts'
import { temporary } from '../../kit/library.ts'

t.test('what is urgent has bulk work hand back early, and goes before what waits', async t => {
  const path = join(temporary(t), 'large.bin')
  writeFileSync(path, randomBytes(16 * 1024 * 1024))
  const threads = openThreads({
    threads: 1,
    timeoutMs: 10_000,
    memoryMb: 256,
    onBug: error => t.fail(String(error)),
  })
  t.teardown(() => threads.close())
  const ended: string[] = []
  const file = { id: '1', path, size: 16 * 1024 * 1024, modifiedMs: 0 }
  const hash = async (name: string, times: number, urgent: boolean) => {
    const slices: number[] = []
    const items = Array.from({ length: times }, () => file)
    await runAll<FileToHash, null, Hashed>(threads, 'hash', items, null, {
      urgent,
      stop: () => ended.includes('urgent') && name !== 'urgent',
      failed: (item, error) => ({ ...item, sha256: null, bytesRead: 0, error }),
      slice: async done => {
        slices.push(done.length)
      },
    })
    ended.push(name)
    return slices
  }
  await hash('begun', 1, false)
  const bulk = [hash('bulk 1', 10_000, false), hash('bulk 2', 10_000, false)]
  await sleep(100)
  const asked = performance.now()
  t.same(await hash('urgent', 1, true), [1])
  t.ok(performance.now() - asked < 850, 'not at the end of a whole slice')
  await Promise.all(bulk)
  t.same(ended.slice(0, 2), ['begun', 'urgent'])
})
