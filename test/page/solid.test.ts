import { basename } from 'node:path'
import t from 'tap'
import { deliveryCounters } from '../../lib/download/counters.ts'
import { createReadAhead } from '../../lib/page/engine.ts'
import { corpusPath, goldenPath } from '../kit/files/corpus.ts'
import { bookAt, bytesOf, engine, truth } from './books.ts'

const archives = [
  goldenPath('7z/lzma.cb7'),
  corpusPath('library/gotson__komga/rar4-solid.cbr', 8),
  corpusPath('library/ssokolow__rar-test-files/testfile.rar5.solid.cbr', 8),
].filter(path => path !== null)

for (const path of archives) {
  const name = basename(path)
  t.test(`${name}: consecutive pages take one run`, async t => {
    const pages = engine(t)
    const book = await bookAt(path)
    const before = deliveryCounters.tasks
    for (let index = 0; index < book.count; index++) {
      const image = await pages.image(book, index)
      t.ok((await bytesOf(image)).equals(await truth(path, index)), `page ${index}`)
    }
    t.equal(deliveryCounters.tasks - before, 1, 'one run')
  })

  t.test(`${name}: all pages at once, backwards and resized`, async t => {
    const pages = engine(t)
    const book = await bookAt(path)
    const indexes = Array.from(
      { length: book.count * 4 },
      (_, i) => book.count - 1 - (i % book.count),
    )
    const images = await Promise.all(
      indexes.map(async (index, i) =>
        bytesOf(await pages.image(book, index, i < book.count ? {} : { format: 'webp' })),
      ),
    )
    t.ok(images[0]!.equals(await truth(path, book.count - 1)))
    t.ok(images.at(-1)!.subarray(8, 12).equals(Buffer.from('WEBP')))
  })

  t.test(`${name}: pages can be read without a cache`, async t => {
    const pages = engine(t, { cacheBytes: 0 })
    const book = await bookAt(path)
    const bytes = await bytesOf(await pages.image(book, book.count - 1))
    t.ok(bytes.equals(await truth(path, book.count - 1)))
  })
}

t.test('runs double while a book is read on, and restart after a jump', async t => {
  const readAhead = createReadAhead()
  const lengths: number[] = []
  const read = (index: number) =>
    readAhead.run('book', async nextLength => {
      lengths.push(nextLength(index))
    })
  for (const index of [0, 8, 24, 3, 11]) await read(index)
  t.same(lengths, [8, 16, 32, 8, 16])
})

t.test('one run of a book at a time, also after an error', async t => {
  const readAhead = createReadAhead()
  let running = 0
  let maxRunning = 0
  const work = (i: number) =>
    readAhead.run('book', async () => {
      maxRunning = Math.max(maxRunning, (running += 1))
      await new Promise(resolve => setTimeout(resolve, 5))
      running -= 1
      if (i === 1) throw new Error('failed')
    })
  const results = await Promise.allSettled([0, 1, 2, 3].map(work))
  t.equal(maxRunning, 1)
  t.same(
    results.map(result => result.status),
    ['fulfilled', 'rejected', 'fulfilled', 'fulfilled'],
  )
})
