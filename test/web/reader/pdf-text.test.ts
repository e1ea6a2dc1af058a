// Text of a PDF in the reader: selected and copied, searched, its contents; each with the three kinds of account.
import { test } from 'tap'
import { hideSeries } from '../../kit/accounts.ts'
import { type TextLine, textPdf } from '../../kit/files/pdf.ts'
import { accessibilityProblems } from '../../kit/web/accessibility.ts'
import { startApp } from '../../kit/web/app.ts'
import { skipWithoutBrowser } from '../../kit/web/browser.ts'
import { type AppPage, horizontalOverflow, testWithPages, waitUntil } from '../../kit/web/page.ts'

const landscape = { width: 1280, height: 800 }

const pages = Array.from({ length: 8 }, (_, i) => ({
  lines: [
    ['The harbor at night', 60, 500],
    [`is described on page ${i + 1}.`, 60, 470],
    ...(i === 5 ? [['Only here: a lighthouse', 60, 300]] : []),
  ] as TextLine[],
}))
const guide = textPdf(pages, [
  { title: 'Harbors', page: 2, children: [{ title: 'Lights', page: 6 }] },
  { title: 'Index', page: 8 },
])

/** The middle of a word on a shown page, in the window. */
async function placeOf(page: AppPage, word: string, number: number) {
  const box = await page
    .locator(`[data-page="${number}"] .reader-word`, { hasText: word })
    .first()
    .boundingBox()
  return { left: box!.x + 1, right: box!.x + box!.width - 1, y: box!.y + box!.height / 2 }
}

const selection = (page: AppPage) => page.evaluate<string>('getSelection().toString()')

async function waitForPage(page: AppPage, number: number) {
  await page.locator(`[data-page="${number}"] .reader-word`).first().waitFor()
  await page.getByText(`Page ${number} of 8`).waitFor({ state: 'attached' })
}

test('text of a PDF', { skip: skipWithoutBrowser(5) }, async t => {
  const app = await startApp(t, { files: { 'Guide/Guide.pdf': guide }, books: ['comic'] })
  const rows = await app.library.books()
  const { id, seriesId } = rows.find(({ folder }) => folder === 'Guide')!
  const path = `/books/${id}/read`
  const maintainer = await app.createPerson('maintainer', 'mia')
  const testPages = testWithPages(t, app)

  for (const [name, account] of Object.entries({
    admin: app.admin,
    maintainer,
    reader: app.reader,
  }))
    await testPages(`the ${name} selects, copies and searches text`, async (t, open) => {
      const page = await open(path, { account, ...landscape })
      await waitForPage(page, 1)
      // Shows single pages, which turn when a side is clicked.
      await page.keyboard.press('d')
      const from = await placeOf(page, 'harbor', 1)
      const to = await placeOf(page, 'described', 1)
      await page.mouse.move(from.left, from.y)
      await page.mouse.down()
      await page.mouse.move(to.left, to.y, { steps: 5 })
      await page.mouse.move(to.right, to.y)
      await page.mouse.up()
      t.match(await selection(page), /^harbor at night\s+is described/)
      t.equal(await page.getByText('Page 1 of 8').count(), 1, 'nothing was turned')
      await page.mouse.click(to.left, to.y + 100)
      t.equal(await selection(page), '', 'a click ends the selection')
      await page.mouse.dblclick((from.left + from.right) / 2, from.y)
      t.equal((await selection(page)).trim(), 'harbor')
      await page.mouse.click(to.left, to.y + 100)

      await page.keyboard.press('/')
      await page.getByLabel('Search terms').fill('LIGHTHOUSE')
      const hit = page.getByRole('button', { name: /^Page 6 .*a lighthouse/ })
      await hit.waitFor()
      t.same(await accessibilityProblems(page), [])
      await hit.click()
      await waitForPage(page, 6)
      const found = await page.locator('[data-page="6"] .reader-found').boundingBox()
      const word = await placeOf(page, 'lighthouse', 6)
      t.ok(Math.abs(found!.x - word.left) < 4 && found!.y < word.y, 'the mark is on the word')

      await page.keyboard.press('c')
      await page
        .getByRole('button', { name: 'Lights' })
        .and(page.locator('[aria-current]'))
        .waitFor()
      await page.getByRole('button', { name: 'Harbors' }).click()
      await waitForPage(page, 2)
    })

  await testPages(
    'the words stay on the page when it is turned, zoomed or narrow',
    async (t, open) => {
      const page = await open(path, { width: 390, height: 844, options: { hasTouch: true } })
      await waitForPage(page, 1)
      const isAbove = async () => {
        const image = await page.locator('[data-page="1"] canvas').boundingBox()
        const { left, right, y } = await placeOf(page, 'harbor', 1)
        const [x, top] = [(left - image!.x) / image!.width, (y - image!.y) / image!.height]
        const end = (right - image!.x) / image!.width
        return (
          Math.abs(x - 0.23) < 0.03 && Math.abs(end - 0.38) < 0.04 && Math.abs(top - 0.15) < 0.02
        )
      }
      t.ok(await isAbove())
      await page.keyboard.press('v')
      await waitForPage(page, 1)
      t.ok(await isAbove())
      t.equal(await horizontalOverflow(page), 0)
      await page.keyboard.press('+')
      await waitUntil(isAbove)
      // A tap on a word is a tap on the page.
      await page.keyboard.press('0')
      await page.keyboard.press('v')
      await waitForPage(page, 1)
      await page.keyboard.press('ArrowRight')
      await waitForPage(page, 2)
    },
  )

  await testPages('a hidden PDF is not found, and a comic has no text', async (t, open) => {
    await hideSeries(app.sql, app.reader.id, [seriesId])
    const page = await open(null, { account: app.reader })
    page.expectProblem(/^404 GET /)
    await page.goto(app.base + path)
    await page.getByText('Not found').first().waitFor()
    t.notOk((await page.content()).includes('harbor'))
    const comic = await open(`/books/${app.books.comic.id}/read`, landscape)
    await comic.locator('[data-page="1"] canvas').waitFor()
    t.equal(await comic.getByRole('button', { name: 'Search this book' }).count(), 0)
    t.equal(await comic.locator('.reader-text').count(), 0)
  })
})
