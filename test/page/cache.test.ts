import { existsSync, mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { openPageCache } from '../../lib/page/cache.ts'
import { cachePath, writeCacheFile } from '../../lib/page/cache-write.ts'
import { waitUntil } from '../kit/processes.ts'
import { bytesOf } from './books.ts'

const key = (n: number) => n.toString(16).padStart(32, '0')
const block = 4096

function write(cache: ReturnType<typeof openPageCache>, n: number, bytes = block) {
  const entry = writeCacheFile(cache.target(key(n))!, Buffer.alloc(bytes, n))
  cache.addWritten([entry!])
}

t.test('the least recently used file is evicted first', async t => {
  const folder = t.testdir()
  const cache = openPageCache(folder, 3 * block)
  await cache.ready
  for (const n of [1, 2, 3]) write(cache, n)
  await bytesOf((await cache.read(key(1)))!)
  write(cache, 4)
  t.equal(await cache.read(key(2)), null)
  t.ok((await bytesOf((await cache.read(key(1)))!)).equals(Buffer.alloc(block, 1)))
  t.equal(cache.bytes, 3 * block)
  // Evicted files are deleted in the background.
  await waitUntil(() => !existsSync(cachePath({ folder, key: key(2) })))
})

t.test('a file larger than the whole cache is not stored', async t => {
  const folder = t.testdir()
  const cache = openPageCache(folder, 2 * block)
  await cache.ready
  write(cache, 1)
  write(cache, 2, 3 * block)
  t.equal(await cache.read(key(2)), null)
  await waitUntil(() => !existsSync(cachePath({ folder, key: key(2) })))
  t.ok(await cache.read(key(1)))
})

t.test('a new process indexes the most recent files and deletes abandoned drafts', async t => {
  const folder = t.testdir()
  const before = openPageCache(folder, 10 * block)
  for (const n of [1, 2, 3, 4]) {
    write(before, n)
    utimesSync(cachePath({ folder, key: key(n) }), 1000 - n, 1000 - n)
  }
  const draft = `${cachePath({ folder, key: key(9) })}.1-2-3.part`
  writeFileSync(draft, 'half')
  utimesSync(draft, 1000, 1000)
  const fresh = `${cachePath({ folder, key: key(8) })}.1-2-3.part`
  writeFileSync(fresh, 'half')
  writeFileSync(join(folder, '00', 'notes.txt'), 'not ours')
  const cache = openPageCache(folder, 2 * block)
  await cache.ready
  const stored = () => readdirSync(join(folder, '00')).filter(name => /^[0-9a-f]+$/.test(name))
  await waitUntil(() => stored().length <= 2 && !existsSync(draft))
  t.same(stored().sort(), [key(1), key(2)])
  t.equal(cache.bytes, 2 * block)
  t.ok(existsSync(fresh), 'another process may be writing it')
  t.ok(existsSync(join(folder, '00', 'notes.txt')))
})

t.test('a file written by another process is found', async t => {
  const folder = t.testdir()
  const cache = openPageCache(folder, 10 * block)
  await cache.ready
  writeCacheFile({ folder, key: key(5) }, Buffer.from('by another process'))
  t.equal(String(await bytesOf((await cache.read(key(5)))!)), 'by another process')
  t.equal(cache.bytes, block)
})

t.test('a disabled cache stores nothing and deletes existing files', async t => {
  const folder = t.testdir()
  write(openPageCache(folder, 10 * block), 1)
  const cache = openPageCache(folder, 0)
  await cache.ready
  t.equal(cache.target(key(2)), null)
  t.equal(await cache.read(key(1)), null)
  await waitUntil(() => readdirSync(join(folder, '00')).length === 0)
})

t.test('a write that fails is not an error', t => {
  const folder = t.testdir({ aa: 'a file where a folder should be' })
  mkdirSync(join(folder, 'bb'))
  t.equal(writeCacheFile({ folder, key: `aa${key(1).slice(2)}` }, Buffer.from('x')), null)
  t.end()
})
