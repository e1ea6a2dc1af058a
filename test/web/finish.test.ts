// Books read to their end in the browser, in each kind of reader; and jumps, which are not reading.
import { test } from 'tap'
import { animatedPng, animatedWebp } from '../kit/files/animations.ts'
import { zipOfFiles } from '../kit/files/archives.ts'
import { epubBytes, item } from '../kit/files/epub.ts'
import { startApp } from '../kit/web/app.ts'
import { pageImage, pdfBook } from '../kit/web/books.ts'
import { skipWithoutBrowser } from '../kit/web/browser.ts'
import { type AppPage, testWithPages, waitUntil } from '../kit/web/page.ts'

const phone = { width: 390, height: 844 }
const landscape = { width: 1280, height: 800 }

async function comicOf(count: number, size = { width: 120, height: 180 }): Promise<Buffer> {
  const image = await pageImage(1, size)
  return zipOfFiles(
    Object.fromEntries(Array.from({ length: count }, (_, i) => [`${i + 1}.jpg`, image])),
  )
}

/** An EPUB with one document per text; fixed: pages of 600 by 900. */
const epubOf = (texts: readonly string[], { isFixed = false } = {}) =>
  epubBytes({
    metadata: isFixed ? '<meta property="rendition:layout">pre-paginated</meta>' : '',
    manifest: texts.map((_, i) => item(`c${i}`, `c${i}.xhtml`, 'application/xhtml+xml')).join(''),
    spine: texts.map((_, i) => `<itemref idref="c${i}"/>`).join(''),
    files: Object.fromEntries(
      texts.map((text, i) => [
        `OPS/c${i}.xhtml`,
        `<html xmlns="http://www.w3.org/1999/xhtml"><head><title>-</title><meta name="viewport" content="width=600, height=900"/></head><body>${text}</body></html>`,
      ]),
    ),
  })

const paragraphs = '<p>The mill stood where the river turned, and its wheel moved slowly.</p>'
const linked = [
  `<p><a href="c1.xhtml">See the end</a></p>${paragraphs.repeat(60)}`,
  '<p>The end</p>',
]

const shown = (page: AppPage) =>
  page.evaluate<string>(
    `[...document.querySelectorAll('.reader-slide.current .reader-page')].map(page => page.dataset.page).join()`,
  )

async function waitForPages(page: AppPage, numbers: string) {
  await waitUntil(async () => (await shown(page)) === numbers)
  await page.locator(`.reader-slide.current [data-page="${numbers.at(-1)}"] canvas`).waitFor()
}

const waitForText = (page: AppPage, path: string) =>
  page.locator(`.epub-frame.shown[data-path$="${path}"]`).waitFor()

test('the end of a book', { skip: skipWithoutBrowser(7) }, async t => {
  const app = await startApp(t, {
    books: ['comic', 'manga', 'novel'],
    files: {
      'One page/1.cbz': await comicOf(1),
      'One strip/1.cbz': await comicOf(1, { width: 300, height: 900 }),
      'One pair/1.cbz': await comicOf(2),
      'One PDF/1.pdf': pdfBook(1),
      'One screen/1.epub': epubOf(['<p>Short</p>']),
      'One plate/1.epub': epubOf(['<p>Plate</p>'], { isFixed: true }),
      'Linked/1.epub': epubOf(linked),
      'Column/1.epub': epubOf(linked),
      'Two/1.cbz': await comicOf(5),
      'Two/2.cbz': await comicOf(2),
      'Series/1.cbz': await comicOf(3),
      'Series/2.cbz': await comicOf(2),
      'Series/3.cbz': await comicOf(2),
      'Moving/1.cbz': zipOfFiles({
        '1.webp': await animatedWebp({ width: 1600, height: 1200 }),
        '2.png': await animatedPng({ width: 1600, height: 1200 }),
      }),
      'Strip/1.cbz': await comicOf(3),
      'Strip/2.cbz': await comicOf(2),
    },
  })
  const rows = await app.library.books()
  const idOf = (folder: string, name?: string) =>
    rows.find(row => row.folder === folder && (!name || row.name === name))!.id
  const pathTo = (id: string) => `/books/${id}/read`
  const progress = async (id: string) => {
    const { body } = await app.admin.get(`/books/${id}`)
    return body.book.readProgress
  }
  const isCompleted = async (id: string) => (await progress(id))?.completed === true
  const testPages = testWithPages(t, app)

  await testPages('a book that is shown whole is read', async (t, open) => {
    const page = await open(null, landscape)
    for (const folder of ['One page', 'One screen', 'One plate']) {
      await page.goto(app.base + pathTo(idOf(folder)))
      await waitUntil(() => isCompleted(idOf(folder)))
    }
    // It is as wide as a page is comfortable to read, and scrolls.
    await page.goto(app.base + pathTo(idOf('One PDF')))
    await page.locator('.reader-strip [data-page="1"] canvas').waitFor()
    t.equal(await progress(idOf('One PDF')), null)
    await page.keyboard.press(' ')
    await waitUntil(() => isCompleted(idOf('One PDF')))
    await page.goto(app.base + pathTo(idOf('One pair')))
    await waitForPages(page, '1')
    await page.keyboard.press('o')
    await waitForPages(page, '1,2')
    await waitUntil(() => isCompleted(idOf('One pair')))
    const strip = await open(pathTo(idOf('One strip')), phone)
    await strip.locator('.reader-strip [data-page="1"] canvas').waitFor()
    await strip.keyboard.press('ArrowDown')
    await strip.keyboard.press('PageDown')
    await waitUntil(() => isCompleted(idOf('One strip')))
    t.match(await progress(idOf('One strip')), { currentPage: 1 })
  })

  await testPages('what follows the last page ends a book, also after a jump', async (t, open) => {
    const { manga } = app.books
    const page = await open(pathTo(manga.id), phone)
    await waitForPages(page, '1')
    await page.keyboard.press('End')
    await waitForPages(page, '6')
    await page.keyboard.press('ArrowLeft')
    await page.getByText('This is the last book in the series.').waitFor()
    await waitUntil(() => isCompleted(manga.id))
    const first = await open(pathTo(idOf('Two', '1.cbz')), phone)
    await waitForPages(first, '1')
    await first.keyboard.press('End')
    await waitForPages(first, '5')
    await first.keyboard.press('n')
    await first.waitForURL(new RegExp(idOf('Two', '2.cbz')))
    await waitUntil(() => isCompleted(idOf('Two', '1.cbz')))
    t.equal(await progress(idOf('Two', '2.cbz')), null)
    const epub = await open(pathTo(idOf('Linked')))
    await waitForText(epub, 'c0.xhtml')
    await epub.keyboard.press('End')
    await waitForText(epub, 'c1.xhtml')
    await epub.keyboard.press('ArrowRight')
    await epub.getByText('This is the last book in the series.').waitFor()
    await waitUntil(() => isCompleted(idOf('Linked')))
  })

  await testPages('Space reads a strip to its end and on to the next book', async (t, open) => {
    const page = await open(pathTo(idOf('Strip', '1.cbz')), phone)
    await waitForPages(page, '1')
    await page.keyboard.press('v')
    await page.locator('.reader-strip').waitFor()
    const isNext = () => page.url().includes(idOf('Strip', '2.cbz'))
    for (let presses = 0; presses < 20 && !isNext(); presses++) {
      await page.keyboard.press(' ')
      await page.evaluate(
        'new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))',
      )
    }
    t.ok(isNext())
    await waitUntil(() => isCompleted(idOf('Strip', '1.cbz')))
    t.equal(await progress(idOf('Strip', '2.cbz')), null)
  })

  await testPages('a column of text is read by the arrow key', async (t, open) => {
    const page = await open(pathTo(idOf('Column')), phone)
    await waitForText(page, 'c0.xhtml')
    await page.keyboard.press('s')
    await page.getByText('Scrolling', { exact: true }).click()
    await page.keyboard.press('Escape')
    await page.locator('.epub-host[data-flow="scrolled"]').waitFor()
    await page.evaluate(`document.querySelector('.epub-host').scrollTo(0, 1e6)`)
    await page.keyboard.press('ArrowDown')
    await waitForText(page, 'c1.xhtml')
    await waitUntil(() => isCompleted(idOf('Column')))
    t.match(await progress(idOf('Column')), { completed: true })
  })

  await testPages('a jump to the end is not reading', async (t, open) => {
    const { comic, novel } = app.books
    const openWithClock = async (id: string) => {
      const page = await open(null, phone)
      await page.clock.install()
      await page.goto(app.base + pathTo(id))
      return page
    }
    const completions = async (id: string) =>
      (await app.admin.get(`/books/${id}/read-history`)).body.entries
    const pages = await openWithClock(comic.id)
    await waitForPages(pages, '1')
    await pages.keyboard.press('End')
    await waitForPages(pages, '6')
    await pages.clock.fastForward(60_000)
    await pages.keyboard.press('m')
    await pages.getByRole('slider').fill('4')
    await waitForPages(pages, '4')
    // Staying there is reading.
    await pages.clock.fastForward(60_000)
    await waitUntil(async () => (await progress(comic.id)) !== null)
    t.match(await progress(comic.id), { currentPage: 4, completed: false })
    t.same(await completions(comic.id), [])

    const text = await openWithClock(novel.id)
    // The clock is a script, which its frames refuse.
    text.expectProblem(/Blocked script execution/)
    await waitForText(text, 'chapter1.xhtml')
    await text.keyboard.press('ArrowRight')
    await text
      .locator('.epub-foot')
      .filter({ hasText: /^Water2 / })
      .waitFor()
    await text.keyboard.press('End')
    await waitForText(text, 'chapter4.xhtml')
    await text.clock.fastForward(60_000)
    await text.keyboard.press('Backspace')
    await waitForText(text, 'chapter1.xhtml')
    await text.keyboard.press('Escape')
    await text.waitForURL(new RegExp(`${novel.id}$`))
    await waitUntil(async () => (await progress(novel.id)) !== null)
    t.match(await progress(novel.id), { completed: false })
    t.same(await completions(novel.id), [])
  })

  await testPages('a series goes on after the book that was read last', async (t, open) => {
    const put = (name: string, position: object) =>
      app.admin.put(`/books/${idOf('Series', name)}/progress`, position)
    await put('1.cbz', { currentPage: 2 })
    await put('2.cbz', { completed: true })
    const { seriesId } = rows.find(row => row.folder === 'Series')!
    const page = await open(`/series/${seriesId}`)
    await page.getByRole('link', { name: 'Continue #3' }).waitFor()
    await put('3.cbz', { completed: true })
    await page.getByRole('link', { name: 'Continue #1' }).waitFor()
    await put('1.cbz', { completed: true })
    await page.getByRole('link', { name: 'Read again' }).click()
    await waitForPages(page, '1')
    t.match(page.url(), idOf('Series', '1.cbz'))
    await page.keyboard.press('ArrowRight')
    await waitForPages(page, '2,3')
    await page.goto(`${app.base}/books/${idOf('Series', '1.cbz')}`)
    await page.getByRole('main').getByRole('button', { name: 'More' }).click()
    await page.getByRole('button', { name: 'Mark as unread' }).click()
    await page.getByRole('link', { name: 'Read', exact: true }).click()
    await waitForPages(page, '1')
  })

  await testPages('animations move', async (t, open) => {
    const page = await open(pathTo(idOf('Moving')), phone)
    for (const number of [1, 2]) {
      const image = `.reader-slide.current [data-page="${number}"] img`
      await page.locator(image).waitFor()
      t.equal(await page.evaluate(`document.querySelector('${image}').naturalWidth`), 1600)
      await page.keyboard.press('ArrowRight')
    }
  })
})
