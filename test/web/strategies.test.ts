// Strategies in the web application: suggestion for a new folder, and a change with preview.
import { test } from 'tap'
import { folderWithFiles } from '../kit/files/folders.ts'
import { comic } from '../kit/library.ts'
import { accessibilityProblems } from '../kit/web/accessibility.ts'
import { startApp } from '../kit/web/app.ts'
import { skipWithoutBrowser } from '../kit/web/browser.ts'
import { horizontalOverflow, testWithPages } from '../kit/web/page.ts'

const names = ['Feet of Clay', 'Guards', 'Jingo', 'Night Watch', 'Thud']
const book = (name: string, i: number) => `Pratchett/${name} (${i + 1})/${name} - Pratchett`

test('strategies', { skip: skipWithoutBrowser(2) }, async t => {
  const info = '<ComicInfo><Series>City Watch</Series></ComicInfo>'
  const files = Object.fromEntries(
    names.map((name, i) => [`${book(name, i)}.cbz`, comic({ info })]),
  )
  const app = await startApp(t, { files })
  const testPages = testWithPages(t, app)

  await testPages('a Calibre folder is recognized, and its strategy proposed', async (t, open) => {
    const paths = names.map((name, i) => [`${book(name, i)}.epub`, Buffer.from('')] as const)
    const root = folderWithFiles(t, Object.fromEntries(paths))
    const page = await open('/admin/libraries/new')
    await page.getByLabel('Folder on the server').fill(root)
    await page.getByText('This looks like a Calibre library').waitFor()
    t.same(await accessibilityProblems(page), [])
    const use = page.getByRole('button', { name: 'Use “Calibre library”' })
    await use.focus()
    await page.keyboard.press('Enter')
    await use.waitFor({ state: 'detached' })
    await page.getByText('More options').click()
    t.equal(await page.getByLabel('How folders become series').inputValue(), 'calibre')
  })

  await testPages('a changed strategy is previewed, saved and scanned', async (t, open) => {
    const { id } = app.library
    const page = await open(`/admin/libraries/${id}`, { width: 390 })
    await page.getByText('5 series · 5 books').waitFor()
    await page.getByLabel('How folders become series').selectOption('calibre')
    await page.getByText('5 series now, 1 series afterward').waitFor()
    await page.getByText('5 books from 5 series').waitFor()
    t.same(await accessibilityProblems(page), [])
    t.equal(await horizontalOverflow(page), 0)
    await page.getByRole('button', { name: 'Save and scan' }).click()
    await page.getByText('1 series · 5 books').waitFor()
    const [series] = await app.sql`select title, book_count from series where book_count > 0`
    t.match(series, { title: 'City Watch', book_count: 5 })
  })
})
