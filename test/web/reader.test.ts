// Reader of comics, webtoons and PDF in the browser: pairs of pages, directions, strips, errors, positions, memory.
import { test } from 'tap'
import { zipOfFiles } from '../kit/files/archives.ts'
import { accessibilityProblems } from '../kit/web/accessibility.ts'
import { startApp } from '../kit/web/app.ts'
import { pageImage } from '../kit/web/books.ts'
import { skipWithoutBrowser } from '../kit/web/browser.ts'
import { type AppPage, horizontalOverflow, testWithPages, waitUntil } from '../kit/web/page.ts'

const phone = { width: 390, height: 844 }
const landscape = { width: 1280, height: 800 }

/** A comic of small pages; the bytes of one of them can be damaged. */
async function comicOf(count: number, damaged?: number): Promise<Buffer> {
  const image = await pageImage(1, { width: 120, height: 180 })
  const nameOf = (number: number) => `${String(number).padStart(3, '0')}.jpg`
  const pages = Array.from({ length: count }, (_, i) => [nameOf(i + 1), image])
  const archive = zipOfFiles(Object.fromEntries(pages))
  if (damaged !== undefined) {
    const name = nameOf(damaged)
    archive[archive.indexOf(name) + name.length + image.length - 20]! ^= 0xff
  }
  return archive
}

const shown = (page: AppPage) =>
  page.evaluate<string>(
    `[...document.querySelectorAll('.reader-slide.current .reader-page')].map(page => page.dataset.page).join()`,
  )

/** Waits until exactly these pages are shown with their images. */
async function waitForPages(page: AppPage, numbers: string) {
  await waitUntil(async () => (await shown(page)) === numbers)
  for (const number of numbers.split(','))
    await page.locator(`.reader-slide.current [data-page="${number}"] canvas`).waitFor()
}

/** Presses a key and waits for the pages that it shows. */
async function press(page: AppPage, key: string, numbers: string) {
  await page.keyboard.press(key)
  await waitForPages(page, numbers)
}

test('reader of pages', { skip: skipWithoutBrowser(10) }, async t => {
  const app = await startApp(t, {
    books: ['comic', 'comic2', 'manga', 'webtoon', 'pdf'],
    files: {
      'Broken/Broken 001.cbz': await comicOf(3, 2),
      'Long/Long 001.cbz': await comicOf(60),
      'Short/Short 001.cbz': await comicOf(3),
      'Short/Short 002.cbz': await comicOf(2),
    },
  })
  const { comic, comic2, manga, webtoon, pdf } = app.books
  const idOf = async (folder: string) =>
    (await app.library.books()).find(book => book.folder === folder)!.id
  const progress = async (id: string) => {
    const { body } = await app.admin.get(`/books/${id}`)
    return body.book.readProgress
  }
  const testPages = testWithPages(t, app)

  await testPages('spreads stand alone, and pairs are the same on going back', async (t, open) => {
    const page = await open(`/books/${comic.id}/read`, landscape)
    await waitForPages(page, '1')
    t.same(await accessibilityProblems(page), [])
    await press(page, 'ArrowRight', '2')
    await press(page, 'ArrowRight', '3')
    await press(page, 'ArrowRight', '4,5')
    await press(page, 'o', '4')
    await press(page, 'ArrowRight', '5,6')
    await press(page, 'ArrowLeft', '4')
    await press(page, 'o', '4,5')
    await press(page, 'End', '6')
    await press(page, 'ArrowLeft', '4,5')
    await press(page, 'ArrowLeft', '3')
    await press(page, 'o', '3')
    await press(page, 'ArrowLeft', '1,2')
    await press(page, 'd', '1')
    await press(page, ' ', '2')
    t.equal(await horizontalOverflow(page), 0)
  })

  await testPages('wide pages are shown in halves, and pages are rotated', async (t, open) => {
    const page = await open(`/books/${comic.id}/read?page=2`, phone)
    await waitForPages(page, '2')
    await page.keyboard.press('x')
    await press(page, 'ArrowRight', '3')
    await page.keyboard.press('ArrowRight')
    await press(page, 'ArrowRight', '4')
    await press(page, 'ArrowLeft', '3')
    await page.keyboard.press('ArrowLeft')
    await press(page, 'ArrowLeft', '2')
    await page.keyboard.press('e')
    const isWide = () =>
      page.evaluate<boolean>(
        `(({ width, height }) => width > height)(document.querySelector('.current .reader-page').getBoundingClientRect())`,
      )
    await waitUntil(isWide)
    await page.locator('.current .reader-image[style*="rotate: 90deg"] canvas').waitFor()
    t.equal(await shown(page), '2')
  })

  await testPages('settings of a series are remembered', async (t, open) => {
    const page = await open(`/books/${comic2.id}/read`, landscape)
    await waitForPages(page, '1')
    await page.keyboard.press('?')
    await page.getByRole('heading', { name: 'Keyboard shortcuts' }).waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await press(page, ' ', '2,3')
    await press(page, 'ArrowLeft', '1')
    await page.keyboard.press('m')
    await page.getByRole('button', { name: 'Reading settings' }).click()
    await page.getByText('Double', { exact: true }).click()
    await page.getByText('Black', { exact: true }).click()
    t.same(await accessibilityProblems(page), [])
    await page.keyboard.press('Escape')
    await page.keyboard.press('o')
    await waitForPages(page, '1,2')
    const again = await open(`/books/${comic2.id}/read`, { context: page.context() })
    await waitForPages(again, '1,2')
    await again.locator('.reader.background-black').waitFor()
  })

  await testPages('manga is read from right to left', async (t, open) => {
    const page = await open(`/books/${manga.id}/read`, phone)
    await waitForPages(page, '1')
    await press(page, 'ArrowLeft', '2')
    await page.locator('.reader-paged').click({ position: { x: 20, y: 400 } })
    await waitForPages(page, '3')
    await page.locator('.reader-paged').click({ position: { x: 370, y: 400 } })
    await waitForPages(page, '2')
    t.equal(await page.evaluate('document.querySelector(".reader-paged").dir'), 'ltr')
  })

  await testPages('a webtoon is a strip that is read to its end', async (t, open) => {
    const page = await open(`/books/${webtoon.id}/read`, phone)
    await page.locator('.reader-strip [data-page="1"] canvas').waitFor()
    // Four pages of 390 × 1950 without gaps, of which those around the window are rendered.
    const height = await page.evaluate<string>(
      'document.querySelector(".reader-column").style.height',
    )
    t.equal(height, '7800px')
    t.equal(await page.locator('.reader-page').count(), 2)
    await page.keyboard.press('End')
    await page.locator('.reader-strip [data-page="4"] canvas').waitFor()
    const recorded = page.waitForResponse(/reading-sessions/)
    await page.evaluate('document.querySelector(".reader-strip").scrollTo(0, 1e6)')
    await page.getByText('This is the last book in the series.').waitFor()
    t.equal((await recorded).status(), 200)
    t.match(await progress(webtoon.id), { currentPage: 4, completed: true })
  })

  await testPages('a PDF is rendered by the server', async (t, open) => {
    const page = await open(`/books/${pdf.id}/read?page=2`, landscape)
    await page.locator('[data-page="2"] [aria-label="Page 2 of 4"] > canvas').waitFor()
    await page.keyboard.press('v')
    await waitForPages(page, '2')
    t.notMatch(page.url(), /page=/)
  })

  await testPages('a page that cannot be shown does not block the others', async (t, open) => {
    const page = await open(`/books/${await idOf('Broken')}/read`, phone)
    page.expectProblem(/^4\d\d GET .*\/pages\/2/)
    await waitForPages(page, '1')
    await page.keyboard.press('ArrowRight')
    await page.getByText('Page 2 cannot be shown').waitFor()
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByText('Page 2 cannot be shown').waitFor()
    await press(page, 'ArrowRight', '3')
    t.pass('page 3 is shown')
  })

  await testPages(
    'reading is recorded, continued by the next book, and stored without connection',
    async (t, open) => {
      const [first, second] = (await app.library.books()).filter(({ folder }) => folder === 'Short')
      const page = await open(`/books/${first!.id}/read`, phone)
      await waitForPages(page, '1')
      page.expectProblem(/ERR_INTERNET_DISCONNECTED/)
      await page.context().setOffline(true)
      await page.keyboard.press('ArrowRight')
      await page.keyboard.press('ArrowRight')
      const unsent = () =>
        page.evaluate<number>(
          `Object.keys(localStorage).filter(key => key.startsWith('stackroom.reading:')).length`,
        )
      await waitUntil(async () => (await unsent()) > 0)
      t.equal(await progress(first!.id), null)
      await page.context().setOffline(false)
      await waitUntil(async () => (await unsent()) === 0)
      t.match(await progress(first!.id), { currentPage: 3, completed: true })
      await waitForPages(page, '3')
      await page.keyboard.press('ArrowRight')
      await page.getByRole('link', { name: /^Next/ }).click()
      await page.waitForURL(new RegExp(`/books/${second!.id}/read`))
      await waitForPages(page, '1')
    },
  )

  await testPages('another device is followed, and incognito leaves no trace', async (t, open) => {
    const page = await open(`/books/${manga.id}/read?page=1`, phone)
    await waitForPages(page, '1')
    await page.getByRole('button', { name: 'Reading settings' }).click()
    await page.getByLabel('Incognito').check()
    await page.keyboard.press('Escape')
    await page.keyboard.press('ArrowLeft')
    await waitForPages(page, '2')
    await app.admin.put(`/books/${manga.id}/progress`, { currentPage: 5 })
    await page.getByRole('button', { name: 'Go there' }).click()
    await waitForPages(page, '5')
    await press(page, 'End', '6')
    await page.keyboard.press('Escape')
    await page.waitForURL(new RegExp(`/books/${manga.id}$`))
    t.match(await progress(manga.id), { currentPage: 5, completed: false })
  })

  await testPages('the document of a long book does not grow', async (t, open) => {
    const page = await open(`/books/${await idOf('Long')}/read`, phone)
    await waitForPages(page, '1')
    const nodes = async () => await page.evaluate<number>('document.querySelectorAll("*").length')
    await press(page, 'ArrowRight', '2')
    for (let number = 3; number <= 12; number++) await press(page, 'ArrowRight', String(number))
    const before = await nodes()
    for (let number = 13; number <= 40; number++) await press(page, 'ArrowRight', String(number))
    t.ok((await nodes()) <= before + 4, 'elements of the document')
    const images = `document.images.length + document.querySelectorAll('canvas').length`
    t.ok((await page.evaluate<number>(images)) <= 6, 'decoded images')
  })
})
