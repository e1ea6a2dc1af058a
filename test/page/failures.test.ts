// Pages that cannot be decoded: refused, repaired, remembered; and shared fairly between accounts.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import sharp from 'sharp'
import t from 'tap'
import { Unreadable } from '../../lib/base/errors.ts'
import { deliveryCounters } from '../../lib/download/counters.ts'
import { openPageCache } from '../../lib/page/cache.ts'
import { createFailures, decodeUnlessFailed } from '../../lib/page/failures.ts'
import { zip } from '../kit/files/archives.ts'
import { bookOfBomb, createBombs } from '../kit/files/bombs.ts'
import { exampleImage } from '../kit/files/images.ts'
import { bookAt, bookOf, bytesOf, cacheFolder, engine, picture } from './books.ts'

const svg = (inner: string) =>
  Buffer.from(`<svg xmlns="http://www.w3.org/2000/svg" width="60" height="90">${inner}</svg>`)
const avif = await exampleImage('avif')
const jpeg = await picture(300, 400)
const pages = [
  { name: '1.jpg', bytes: jpeg },
  { name: '2.jpg', bytes: jpeg.subarray(0, jpeg.length / 2) },
  { name: '3.avif', bytes: avif },
  { name: '4.avif', bytes: avif.subarray(0, avif.length / 2) },
  { name: '5.svg', bytes: svg('<g>') },
]

t.test('a page is sent as it is only if it decodes; what is damaged is encoded again', async t => {
  const service = engine(t)
  const book = await bookOf(t, 'a.cbz', zip(pages))
  t.ok((await bytesOf(await service.image(book, 0))).equals(jpeg))
  const repaired = await bytesOf(await service.image(book, 1))
  t.match(await sharp(repaired, { failOn: 'warning' }).metadata(), { width: 300, height: 400 })
  t.ok((await bytesOf(await service.image(book, 2))).equals(avif))
  for (const index of [3, 4])
    await t.rejects(service.image(book, index), { code: 'unsupported_image' })
})

t.test('a page is verified once, and an undecodable one refused without a thread', async t => {
  const service = engine(t)
  const book = await bookOf(t, 'a.cbz', zip(pages))
  for (const index of [0, 1, 2]) await bytesOf(await service.image(book, index))
  for (const index of [3, 4]) await service.image(book, index).catch(() => {})
  const { tasks } = deliveryCounters
  for (const index of [0, 1, 2]) await bytesOf(await service.image(book, index))
  for (const index of [3, 4]) await t.rejects(service.image(book, index), Unreadable)
  t.equal(deliveryCounters.tasks, tasks)
  for (const width of [10, 20, 30])
    await t.rejects(service.image(book, 3, { width, format: 'png' }), Unreadable)
  t.equal(deliveryCounters.tasks, tasks + 1, 'of any size')
})

t.test('failures of bytes are remembered in the cache folder, for all books', async t => {
  const folder = cacheFolder(t)
  let calls = 0
  const timeout = async () => {
    calls += 1
    throw new Unreadable('too slow', 'timeout')
  }
  const drawing = svg('<rect/>')
  for (let i = 0; i < 3; i++)
    await t.rejects(decodeUnlessFailed(Buffer.from(drawing), folder, timeout), { code: 'timeout' })
  t.equal(calls, 1)
  await t.rejects(decodeUnlessFailed(svg('<circle/>'), folder, timeout), { code: 'timeout' })
  t.equal(calls, 2, 'other bytes')
  const cache = openPageCache(folder, 1024 * 1024)
  const first = createFailures(cache)
  await first.remember('ab'.repeat(16), new Unreadable('too slow', 'timeout'))
  await first.remember('cd'.repeat(16), new Unreadable('lost', 'io'))
  const next = createFailures(cache)
  await t.rejects(next.check('ab'.repeat(16)), { code: 'timeout', message: 'too slow' })
  await t.resolves(next.check('cd'.repeat(16)))
})

const cheapBombs = [
  'svg use',
  'svg pattern',
  'svg mask',
  'svg blur',
  'jpeg 20,000 progressive',
  'avif 30,000',
  'jxl 1,000 million',
  'heic 30,000',
  'gif of 65,535',
  'bmp of 60,000',
  'rar with a drawing',
  '7z with a drawing',
]

t.test('bombs are refused before they are decoded, in any container', async t => {
  const service = engine(t)
  for (const bomb of await createBombs(cheapBombs)) {
    const { name, bytes } = bookOfBomb(bomb)
    const book = await bookOf(t, name, bytes)
    const image = service.image(book, 0, { width: 100, format: 'png' })
    await t.rejects(image, { code: 'too_large' }, name)
  }
})

t.test('an account with many slow pages does not delay the page of another', async t => {
  const service = engine(t, { threads: 2 })
  const shelf = t.testdir()
  writeFileSync(join(shelf, 'slow.cbz'), zip([{ name: '1.svg', bytes: svg('<rect/>') }]))
  writeFileSync(join(shelf, 'good.cbz'), zip([{ name: '1.jpg', bytes: jpeg }]))
  const [slow, good] = [
    await bookAt(join(shelf, 'slow.cbz')),
    await bookAt(join(shelf, 'good.cbz')),
  ]
  const order: string[] = []
  // Each starts a process, so that together they take much longer than the page of the reader.
  const attack = Array.from({ length: 8 }, async (_, i) => {
    await service.image(slow, 0, { width: 20 + i, client: { accountId: 'a' } })
    order.push('slow')
  })
  const reader = service
    .image(good, 0, { width: 100, client: { accountId: 'b' } })
    .then(() => order.push('reader'))
  await Promise.all([...attack, reader])
  t.ok(order.indexOf('reader') < 6, order.join())
})
