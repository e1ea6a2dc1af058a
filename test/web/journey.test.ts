// The way of a new server through the browser: set-up, first library, live scan, search, reading, statistics.
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { test } from 'tap'
import { folderWithFiles } from '../kit/files/folders.ts'
import { startApi } from '../kit/server.ts'
import { password } from '../kit/web/app.ts'
import { webBooks } from '../kit/web/books.ts'
import { skipWithoutBrowser } from '../kit/web/browser.ts'
import { testWithPages } from '../kit/web/page.ts'

test('from the first start to the statistics', { skip: skipWithoutBrowser(1) }, async t => {
  const api = await startApi(t)
  const contents = await Promise.all(
    Object.values(webBooks).map(async book => [book.path, await book.bytes()] as const),
  )
  const root = folderWithFiles(t, Object.fromEntries(contents))
  const testPages = testWithPages(t, { base: api.base, admin: { username: 'ada', password } })

  await testPages('the first administrator adds a library', async (t, open) => {
    const page = await open('/', { account: null })
    await page.getByRole('heading', { name: 'Welcome to Stackroom' }).waitFor()
    await page.getByLabel('User name').fill('ada')
    await page.getByLabel('E-mail address').fill('ada@example.org')
    await page.getByLabel('Password', { exact: true }).fill(password)
    await page.getByRole('button', { name: 'Create account' }).click()

    await page.getByLabel('Folder on the server').fill(join(root, '..'))
    await page.getByRole('list', { name: 'Folders' }).getByRole('button', { name: 'books' }).click()
    await page.getByRole('list', { name: 'Current folder' }).getByText('books').waitFor()
    t.equal(await page.getByLabel('Name', { exact: true }).inputValue(), 'Books')
    await page.getByRole('button', { name: 'Add library' }).click()
    await page.getByRole('heading', { name: 'Your library is ready' }).waitFor()
    await page.locator('.new-cover img').nth(6).waitFor()
    await page.getByRole('link', { name: 'Go to the library' }).click()
  })
  const rows = await api.sql<{ id: string; name: string }[]>`
    select id, convert_from(name, 'utf8') as name from book`
  const idOf = (name: keyof typeof webBooks) =>
    rows.find(row => webBooks[name].path.endsWith(`/${row.name}`))!.id
  const phone = { width: 390, height: 844 }
  const shown = (page: Page, number: number, count: number) =>
    page.getByRole('img', { name: `Page ${number} of ${count}` }).and(page.locator('img'))

  await testPages('books of all kinds are read', async (_t, open) => {
    const page = await open(`/books/${idOf('comic')}/read`, phone)
    for (const number of [1, 2, 3, 4]) {
      await shown(page, number, 6).waitFor()
      if (number < 4) await page.keyboard.press('ArrowRight')
    }
    for (const [name, count] of [
      ['webtoon', 4],
      ['pdf', 4],
    ] as const) {
      await page.goto(`${api.base}/books/${idOf(name)}/read`)
      await shown(page, 1, count).waitFor()
      await page.keyboard.press('End')
      await shown(page, count, count).waitFor()
    }
    await page.goto(`${api.base}/books/${idOf('novel')}/read`)
    await page.screenshot({ path: '/tmp/i16/chromium/j3.png' })
  })

  await testPages('reading is resumed in another session', async (_t, open) => {
    const page = await open(`/books/${idOf('comic')}/read`)
    await shown(page, 4, 6).waitFor()
    await page.screenshot({ path: '/tmp/i16/chromium/j4.png' })
  })
})
