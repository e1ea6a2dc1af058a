import { join } from 'node:path'
import t from 'tap'
import { pageCounters } from '../../lib/page/counters.ts'
import { openRuns } from '../../lib/page/readahead.ts'
import { library } from '../archive/archive-files.ts'
import { bookAt, bytesOf, engine, truth } from './books.ts'

const archives = [
  'gotson__komga/rar4-solid.cbr',
  'ssokolow__rar-test-files/testfile.rar5.solid.cbr',
  'generated-hostile/7z/lzma.cb7',
]

for (const path of archives) {
  const at = join(library, path)
  t.test(`${path}: one pass for the pages that follow one another`, async t => {
    const pages = engine(t)
    const book = await bookAt(at)
    const before = pageCounters.tasks
    for (let index = 0; index < book.count; index++) {
      const image = await pages.image(book, index)
      t.ok((await bytesOf(image)).equals(await truth(at, index)), `page ${index}`)
    }
    t.equal(pageCounters.tasks - before, 2, 'the directory and one run')
  })

  t.test(`${path}: all pages at once, backwards and resized`, async t => {
    const pages = engine(t)
    const book = await bookAt(at)
    const indexes = Array.from(
      { length: book.count * 4 },
      (_, i) => book.count - 1 - (i % book.count),
    )
    const answers = await Promise.all(
      indexes.map(async (index, i) =>
        bytesOf(await pages.image(book, index, i < book.count ? {} : { format: 'webp' })),
      ),
    )
    t.ok(answers[0]!.equals(await truth(at, book.count - 1)))
    t.ok(answers.at(-1)!.subarray(8, 12).equals(Buffer.from('WEBP')))
  })

  t.test(`${path}: without a cache each page is still had`, async t => {
    const pages = engine(t, { cacheBytes: 0 })
    const book = await bookAt(at)
    const bytes = await bytesOf(await pages.image(book, book.count - 1))
    t.ok(bytes.equals(await truth(at, book.count - 1)))
  })
}

t.test('runs double while a book is read on, and begin anew after a jump', async t => {
  const runs = openRuns()
  const lengths: number[] = []
  const ask = (index: number) =>
    runs.inTurn('book', async length => {
      lengths.push(length(index))
    })
  for (const index of [0, 8, 24, 3, 11]) await ask(index)
  t.same(lengths, [8, 16, 32, 8, 16])
})

t.test('one run of a book at a time, also after one that failed', async t => {
  const runs = openRuns()
  let under = 0
  let most = 0
  const work = (i: number) =>
    runs.inTurn('book', async () => {
      most = Math.max(most, (under += 1))
      await new Promise(resolve => setTimeout(resolve, 5))
      under -= 1
      if (i === 1) throw new Error('failed')
    })
  const ended = await Promise.allSettled([0, 1, 2, 3].map(work))
  t.equal(most, 1)
  t.same(
    ended.map(one => one.status),
    ['fulfilled', 'rejected', 'fulfilled', 'fulfilled'],
  )
})
