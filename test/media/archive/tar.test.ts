import t from 'tap'
import { defaultLimits } from '../../../lib/media/archive/limits.ts'
import { isTarHeader, openTar } from '../../../lib/media/archive/tar.ts'
import { openBytes, png, tarEnd, tarEntry } from '../../kit/files/archives.ts'
import { use } from '../../kit/use.ts'

const page = png(41)
const record = (key: string, value: string) => {
  const rest = ` ${key}=${value}\n`
  const length = Buffer.byteLength(rest) + String(Buffer.byteLength(rest) + 3).length
  return Buffer.from(`${length}${rest}`)
}

t.test('files are listed, directories and links are not', async t => {
  const bytes = Buffer.concat([
    tarEntry('comic/', Buffer.alloc(0), '5'),
    tarEntry('comic/1.png', page),
    tarEntry('comic/2.png', Buffer.alloc(0), '2'),
    tarEntry('comic/3.png', png(42)),
    tarEnd,
  ])
  t.ok(isTarHeader(bytes))
  const file = use(t, openBytes(t.testdir(), bytes))
  const archive = use(t, await openTar(file, defaultLimits))
  t.same(
    archive.entries.map(({ name }) => name),
    ['comic/1.png', 'comic/3.png'],
  )
  t.same(Buffer.from(await archive.read(archive.entries[1]!, 1000)), png(42))
  t.same(Buffer.from(await archive.head(archive.entries[0]!, 8)), page.subarray(0, 8))
  await t.rejects(archive.read(archive.entries[0]!, 10), { code: 'too_large' })
})

t.test('long names of GNU and pax apply to the next entry only', async t => {
  const gnu = `${'g'.repeat(150)}.png`
  const pax = `${'日'.repeat(60)}.png`
  const bytes = Buffer.concat([
    tarEntry('././@LongLink', Buffer.from(`${gnu}\0`), 'L'),
    tarEntry('short', page),
    tarEntry('PaxHeader', record('path', pax), 'x'),
    tarEntry('short', page),
    tarEntry('last.png', page),
    tarEnd,
  ])
  const file = use(t, openBytes(t.testdir(), bytes))
  const archive = use(t, await openTar(file, defaultLimits))
  t.same(
    archive.entries.map(({ name }) => name),
    [gnu, pax, 'last.png'],
  )
})

t.test('complete files of a truncated archive are listed', async t => {
  const bytes = Buffer.concat([tarEntry('1.png', page), tarEntry('2.png', page)])
  const file = use(t, openBytes(t.testdir(), bytes.subarray(0, bytes.length - 490)))
  const archive = use(t, await openTar(file, defaultLimits))
  t.same(
    archive.entries.map(({ name }) => name),
    ['1.png'],
  )
  t.same(archive.warnings, ['The archive ends too early'])
})

t.test('other files are rejected', async t => {
  t.notOk(isTarHeader(Buffer.alloc(512)))
  t.notOk(isTarHeader(Buffer.alloc(512, 'x')))
  const file = use(t, openBytes(t.testdir(), Buffer.alloc(1024, 'x')))
  await t.rejects(openTar(file, defaultLimits), { code: 'not_an_archive' })
})
