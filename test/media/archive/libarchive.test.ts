import { createRequire } from 'node:module'
import t from 'tap'
import { openLibarchive } from '../../../lib/media/archive/libarchive.ts'
import { openBytes, openPath, png, tarEnd, tarEntry } from '../../kit/files/archives.ts'
import { goldenFile, goldenPath } from '../../kit/files/corpus.ts'
import { use } from '../../kit/use.ts'

t.test('literal bytes and spans of a file are read as one archive', async t => {
  const page = png(41)
  const file = use(t, openBytes(t.testdir(), tarEntry('1.png', page)))
  const spans = [{ position: 0, length: file.size }, tarEntry('2.png', png(42)), tarEnd]
  const pass = use(t, await openLibarchive(file, spans, 100_000))
  t.ok(pass.next())
  t.same(Buffer.from(pass.read(8)), page.subarray(0, 8))
  t.same(Buffer.from(pass.read(page.length - 8)), page.subarray(8))
  t.ok(pass.next())
  t.same(Buffer.from(pass.read(png(42).length)), png(42))
  t.notOk(pass.next())
})

t.test('an archive above the size limit is not loaded', async t => {
  const file = use(t, openPath(goldenPath('7z/lzma.cb7')))
  const whole = { position: 0, length: file.size }
  await t.rejects(openLibarchive(file, [whole], file.size - 1), { code: 'too_large' })
  await t.rejects(openLibarchive(file, [{ position: 10, length: file.size }], 1e6), {
    code: 'truncated',
  })
})

t.test('damaged data is an error', async t => {
  const bytes = goldenFile('7z/deflate.cb7')
  bytes.fill(0x55, 40, 60)
  const file = use(t, openBytes(t.testdir(), bytes))
  const pass = use(t, await openLibarchive(file, [bytes], 1e6))
  t.ok(pass.next())
  t.throws(() => pass.read(45_056), { name: 'Unreadable' })
})

// lib/media/archive/libarchive.ts imports an inner module of the package, which may change in any release.
t.test('the inner module of libarchive.js has the expected version and functions', async t => {
  const { version } = createRequire(import.meta.url)('libarchive.js/package.json')
  t.equal(version, '2.0.2', 'after an upgrade check the imports of lib/media/archive/libarchive.ts')
  // @ts-expect-error the package has no types for its inner modules
  const inner = await import('libarchive.js/src/webworker/wasm-module.js')
  t.type(inner.WasmModule, 'function')
  t.type(inner.getWasmModule, 'function')
  const module = await new Promise<Record<string, unknown>>(resolve => inner.getWasmModule(resolve))
  for (const name of ['_malloc', '_free']) t.type(module[name], 'function', name)
  const functions = ['openArchive', 'getNextEntry', 'getEntryType', 'getFileData', 'getError']
  const runCode = module.runCode as Record<string, unknown>
  for (const name of [...functions, 'closeArchive']) t.type(runCode[name], 'function', name)
})
