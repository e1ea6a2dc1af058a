// The way of a new server through the browser: set-up, first library, live scan, search, reading, a second session,
// collection, statistics.
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { test } from 'tap'
import { folderWithFiles } from '../kit/files/folders.ts'
import { startApi } from '../kit/server.ts'
import { password, shareBuild } from '../kit/web/app.ts'
import { type WebBookName, webBooks } from '../kit/web/books.ts'
import { skipWithoutBrowser } from '../kit/web/browser.ts'
import { testWithPages, waitUntil } from '../kit/web/page.ts'

const phone = { width: 390, height: 844 }

/** Waits until a page is the current one and its picture is there; its neighbors are prepared. */
async function shownPage(page: Page, number: number, count: number) {
  const name = `Page ${number} of ${count}`
  await page.getByRole('status').getByText(name).waitFor({ state: 'attached' })
  await page
    .getByRole('img', { name })
    .filter({ has: page.locator('canvas') })
    .first()
    .waitFor()
}

test('from the first start to the statistics', { skip: skipWithoutBrowser(3) }, async t => {
  const api = await startApi(t)
  shareBuild(api)
  const { base, sql, anonymous, withHeaders } = api
  const contents = await Promise.all(
    Object.values(webBooks).map(async book => [book.path, await book.bytes()] as const),
  )
  const root = folderWithFiles(t, Object.fromEntries(contents))
  const testPages = testWithPages(t, { base, admin: { username: 'ada', password } })

  await testPages('the first administrator adds a library', async (t, open) => {
    const page = await open('/', { account: null })
    await page.getByRole('heading', { name: 'Welcome to Stackroom' }).waitFor()
    await page.getByLabel('User name').fill('ada')
    await page.getByLabel('Email address').fill('ada@example.org')
    await page.getByLabel('Password', { exact: true }).fill(password)
    await page.getByRole('button', { name: 'Create account' }).click()

    // The first listing writes its path into the field.
    const folders = page.getByRole('list', { name: 'Folders' })
    await folders.waitFor()
    await page.getByLabel('Folder on the server').fill(join(root, '..'))
    await folders.getByRole('button', { name: 'books' }).click()
    await page.getByRole('list', { name: 'Current folder' }).getByText('books').waitFor()
    t.equal(await page.getByLabel('Name', { exact: true }).inputValue(), 'Books')
    await page.getByRole('button', { name: 'Add library' }).click()
    await page.getByRole('heading', { name: 'Your library is ready' }).waitFor()
    await page.locator('.new-cover img').nth(6).waitFor()
    await page.getByRole('link', { name: 'Go to the library' }).click()
    await page.getByRole('link', { name: 'Star Harbour' }).first().waitFor()
  })

  const rows = await sql<{ id: string; name: string }[]>`
    select id, convert_from(name, 'utf8') as name from book`
  const idOf = (name: WebBookName) =>
    rows.find(row => webBooks[name].path.endsWith(`/${row.name}`))!.id
  const readerOf = (name: WebBookName) => `/books/${idOf(name)}/read`

  await testPages('books of all kinds are found and read', async (t, open) => {
    const page = await open('/', phone)
    await page.getByRole('searchbox', { name: 'Search' }).fill('Lighthouse')
    await page.keyboard.press('Enter')
    await page.getByRole('link', { name: 'The Lighthouse' }).first().click()
    await page.getByRole('link', { name: 'Read', exact: true }).click()
    for (const number of [1, 2, 3, 4]) {
      await shownPage(page, number, 6)
      if (number < 4) await page.keyboard.press('ArrowRight')
    }
    t.equal(new URL(page.url()).pathname, readerOf('comic'))
    await page.keyboard.press('Escape')
    await page.getByRole('heading', { name: 'The Lighthouse' }).waitFor()

    for (const name of ['webtoon', 'pdf'] as const) {
      await page.goto(base + readerOf(name))
      await shownPage(page, 1, 4)
      await page.keyboard.press('End')
      await shownPage(page, 4, 4)
      await page.evaluate(`document.querySelector('.reader-strip').scrollTo(0, 1e6)`)
      await page.locator('.reader-strip-end').getByText('This is the last').waitFor()
    }
    const text = page.frameLocator('iframe').first()
    await page.goto(base + readerOf('picture'))
    await text.getByRole('img', { name: 'Page 1' }).waitFor()
    await page.goto(base + readerOf('novel'))
    await text.getByRole('heading', { name: 'Water' }).waitFor()
    await page.getByRole('button', { name: 'Next section' }).click()
    await text.getByRole('heading', { name: 'Stone' }).waitFor()
    await page.keyboard.press('ArrowRight')
    await page.keyboard.press('m')
    await page.getByRole('link', { name: 'Close book' }).click()

    const { body } = await anonymous.post('/auth/login', { username: 'ada', password })
    const ada = withHeaders({ authorization: `Bearer ${body.accessToken}` })
    // What is recorded is sent in the background.
    await waitUntil(async () => {
      const { bytes } = await ada.get(`/books/${idOf('novel')}/progression`)
      return bytes.includes('chapter2')
    })
    for (const name of ['comic', 'webtoon', 'pdf'] as const)
      await waitUntil(async () => {
        const progress = await ada.get(`/books/${idOf(name)}/progress`)
        return progress.body?.currentPage === 4
      })
  })

  await testPages('a second session knows what was read', async (t, open) => {
    const page = await open(readerOf('comic'))
    await shownPage(page, 4, 6)
    await page.goto(base + readerOf('novel'))
    await page.frameLocator('iframe').first().getByRole('heading', { name: 'Stone' }).waitFor()
    await page.goto(base)
    await page.getByRole('heading', { name: 'Keep reading' }).waitFor()

    await page.getByRole('link', { name: 'Series', exact: true }).click()
    await page.getByRole('heading', { level: 1, name: 'Series' }).waitFor()
    await page.getByRole('link', { name: 'Star Harbour' }).first().click()
    await page.getByRole('heading', { level: 1, name: 'Star Harbour' }).waitFor()
    await page.getByRole('main').getByRole('button', { name: 'More' }).first().click()
    await page.getByRole('button', { name: 'Add to collection' }).click()
    await page.getByLabel('Find or create a collection').fill('Seaside')
    await page.getByRole('button', { name: 'Create “Seaside”' }).click()
    await page.getByRole('link', { name: 'Collections' }).click()
    await page.getByRole('link', { name: 'Seaside' }).first().click()
    await page.getByRole('link', { name: 'Star Harbour' }).first().waitFor()

    await page.getByRole('link', { name: 'Statistics' }).click()
    await page.getByText('Current streak').waitFor()
    for (const series of ['Mill', 'Star Harbour', 'Field Guide'])
      await page.getByRole('link', { name: series, exact: true }).waitFor()
    t.equal(new URL(page.url()).pathname, '/statistics')
  })
})
