import sharp from 'sharp'
import t from 'tap'
import { NotFound } from '../../lib/base/errors.ts'
import { deliveryCounters } from '../../lib/download/counters.ts'
import { goldenPath } from '../kit/files/corpus.ts'
import { scannedPdf } from '../kit/files/pdf.ts'
import { bookAt, bookOf, bytesOf, engine, picture } from './books.ts'

t.test('a scanned page of a PDF is sent as it is, and cached', async t => {
  const pages = engine(t)
  const jpeg = await picture(400, 600)
  const book = await bookOf(t, 'a.pdf', scannedPdf({ jpeg, width: 400, height: 600 }))
  const image = await pages.image(book, 0)
  t.equal(image.mediaType, 'image/jpeg')
  t.ok((await bytesOf(image)).equals(jpeg))
  const tasks = deliveryCounters.tasks
  t.ok((await bytesOf(await pages.image(book, 0))).equals(jpeg))
  t.equal(deliveryCounters.tasks, tasks, 'no thread the second time')
})

t.test('a vector page is rendered, in the requested size and format', async t => {
  const pages = engine(t)
  const book = await bookAt(goldenPath('pdf/plain.pdf'))
  const { width, height, format } = await sharp(
    await bytesOf(await pages.image(book, 1)),
  ).metadata()
  t.equal(format, 'jpeg')
  const small = await sharp(await bytesOf(await pages.image(book, 1, { width: 200 }))).metadata()
  t.equal(small.width, 200)
  t.equal(small.height, Math.round((height * 200) / width))
  const png = await pages.image(book, 1, { height: 300, format: 'png' })
  t.equal(png.mediaType, 'image/png')
  t.equal((await sharp(await bytesOf(png)).metadata()).height, 300)
  await t.rejects(pages.image(book, book.count), NotFound)
})
