import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { openPass } from '../../lib/archive/libarchive.ts'
import { library, member, onDisk, openCorpus, png, tarEnd } from './archive-files.ts'

t.test('a pass goes through literal bytes and spans of the file', async t => {
  const page = png(41)
  using file = onDisk(t.testdir(), member('1.png', page))
  const spans = [{ position: 0, length: file.size }, member('2.png', png(42)), tarEnd]
  using pass = await openPass(file, spans, 100_000)
  t.ok(pass.next())
  t.same(Buffer.from(pass.read(8)), page.subarray(0, 8))
  t.same(Buffer.from(pass.read(page.length - 8)), page.subarray(8))
  t.ok(pass.next())
  t.same(Buffer.from(pass.read(png(42).length)), png(42))
  t.notOk(pass.next())
})

t.test('an archive beyond the limit is not loaded', async t => {
  using file = openCorpus('generated-hostile/7z/lzma.cb7')
  const whole = { position: 0, length: file.size }
  await t.rejects(openPass(file, [whole], file.size - 1), { code: 'too_large' })
  await t.rejects(openPass(file, [{ position: 10, length: file.size }], 1e6), { code: 'truncated' })
})

t.test('damage is an error of its own', async t => {
  const bytes = readFileSync(join(library, 'adamhathcock__sharpcompress/Rar5.cbr'))
  bytes.fill(0x55, 200, 400)
  using file = onDisk(t.testdir(), bytes)
  using pass = await openPass(file, [bytes], 1e6)
  t.ok(pass.next())
  t.throws(() => pass.read(45_056), { name: 'Unreadable' })
})
