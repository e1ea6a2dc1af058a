import { join } from 'node:path'
import sharp from 'sharp'
import t from 'tap'
import { NotFound } from '../../lib/errors.ts'
import { pageCounters } from '../../lib/page/counters.ts'
import { library } from '../archive/archive-files.ts'
import { scanned } from '../format/pdf/pdf-files.ts'
import { bookAt, bookOf, bytesOf, engine, picture } from './books.ts'

t.test('a scan in a PDF is sent as it is, and kept', async t => {
  const pages = engine(t)
  const jpeg = await picture(400, 600)
  const book = await bookOf(t, 'a.pdf', scanned({ jpeg, width: 400, height: 600 }))
  const image = await pages.image(book, 0)
  t.equal(image.mediaType, 'image/jpeg')
  t.ok((await bytesOf(image)).equals(jpeg))
  const tasks = pageCounters.tasks
  t.ok((await bytesOf(await pages.image(book, 0))).equals(jpeg))
  t.equal(pageCounters.tasks, tasks, 'no thread the second time')
})

t.test('a drawn page is rendered, and made smaller or another format when asked', async t => {
  const pages = engine(t)
  const book = await bookAt(join(library, 'qpdf__qpdf/annotations-out.pdf'))
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
