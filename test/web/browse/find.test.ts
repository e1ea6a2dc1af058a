// Finding things in the web application: libraries and saved filters in the navigation, all books, people and other
// names, recently read books, and the rows of the home page; for an administrator, a reader and a restricted reader.
import { test } from 'tap'
import { hideSeries } from '../../kit/accounts.ts'
import { comic, createTestLibrary } from '../../kit/library.ts'
import { startApp } from '../../kit/web/app.ts'
import { skipWithoutBrowser } from '../../kit/web/browser.ts'
import { type AppPage, horizontalOverflow, testWithPages, waitUntil } from '../../kit/web/page.ts'

const shelvesOf = (page: AppPage) => page.locator('.lists-shelf:not(.loading) h2').allInnerTexts()
const navigation = (page: AppPage) => page.getByRole('navigation', { name: 'Main' })
const heading = (page: AppPage, name: string) =>
  page.getByRole('heading', { name, exact: true, level: 1 })

test('finding things', { skip: skipWithoutBrowser(7) }, async t => {
  const app = await startApp(t, { books: ['comic', 'comic2', 'manga', 'novel'] })
  const { admin, reader, books, library, sql, base } = app
  const other = await createTestLibrary(t, app, { 'Zine/1.cbz': comic() })
  await other.scan()
  await sql`update library set name = 'Zines' where id = ${other.id}`
  await sql`update library set name = 'Comics' where id = ${library.id}`
  const restricted = await app.createPerson('reader', 'kim')
  await hideSeries(sql, restricted.id, [books.novel.seriesId])
  const accounts = [admin, reader, restricted]
  const testPages = testWithPages(t, app)

  await testPages('libraries are in the navigation by name', async (t, open) => {
    for (const account of accounts) {
      const page = await open('/', { account })
      await navigation(page).getByRole('link', { name: 'Zines' }).click()
      await heading(page, 'Zines').waitFor()
      t.equal(new URL(page.url()).pathname, `/libraries/${other.id}`)
    }
    const page = await open('/')
    const toggle = navigation(page).getByRole('button', { name: 'Libraries' })
    await toggle.press('Enter')
    t.equal(await navigation(page).getByRole('link', { name: 'Zines' }).count(), 0)
    await page.reload()
    await toggle.waitFor()
    t.equal(await toggle.getAttribute('aria-expanded'), 'false', 'remembered')
    const onPhone = await open('/', { width: 390, height: 844 })
    await navigation(onPhone).getByRole('button', { name: 'More' }).click()
    await onPhone.getByRole('link', { name: 'Comics' }).click()
    await heading(onPhone, 'Comics').waitFor()
    t.equal(await horizontalOverflow(onPhone), 0)
  })

  await testPages('a filter that is saved is in the navigation', async (t, open) => {
    const page = await open('/books?format=epub', { account: reader })
    await page.getByText('1 book', { exact: true }).waitFor()
    await page.getByRole('button', { name: /^Filters/ }).click()
    await page.getByRole('button', { name: 'Save these filters' }).click()
    await page.getByLabel('Filter name').fill('Novels')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByRole('button', { name: 'Novels', exact: true }).waitFor()
    await page.keyboard.press('Escape')
    await page.goto(`${base}/series`)
    await navigation(page).getByRole('link', { name: 'Novels' }).click()
    await heading(page, 'Books').waitFor()
    await page.getByRole('button', { name: 'Remove filter Format: EPUB' }).waitFor()
    await page.getByText('The Mill').waitFor()
    t.equal(await page.locator('.lists-card').count(), 1)
    const others = await open('/books', { account: restricted })
    await others.getByText('The Tide').waitFor()
    t.equal(await others.getByText('Novels').count(), 0)
  })

  await testPages('all books are listed, filtered, sorted and searched', async (t, open) => {
    const page = await open('/books', { account: reader })
    await page.getByText('5 books').waitFor()
    await page.getByLabel('Sort by').selectOption('file_size')
    await waitUntil(async () => page.url().includes('sort=file_size%2Cdesc'))
    await page.getByRole('button', { name: 'Show as list' }).click()
    await page.locator('.lists-line').first().waitFor()
    await page.goto(`${base}/books`)
    await page.locator('.lists-line').first().waitFor()
    await page.getByRole('searchbox', { name: 'Search books' }).fill('tide')
    await page.getByText('1 book', { exact: true }).waitFor()
    await page.getByRole('link', { name: /The Tide/ }).click()
    await heading(page, 'The Tide').waitFor()
    await page.goBack()
    t.equal(await page.getByRole('searchbox', { name: 'Search books' }).inputValue(), 'tide')
    await page.getByRole('searchbox', { name: 'Search books' }).fill('nothing like it')
    await page.getByText('No matching books').waitFor()
    const hidden = await open('/books', { account: restricted })
    await hidden.getByText('4 books').waitFor()
    t.equal(await hidden.getByText('The Mill').count(), 0)
  })

  await testPages('people, genres and publishers lead to their series', async (t, open) => {
    for (const account of accounts) {
      const page = await open('/', { account })
      await navigation(page).getByRole('link', { name: 'Browse' }).click()
      await page.getByText(account === restricted ? '2 names' : '3 names').waitFor()
      t.equal(
        await page.getByText('Carla Novelist').count(),
        account === restricted ? 0 : 1,
        `of hidden series for ${account.username}`,
      )
      await page.getByLabel('Role').selectOption('penciller')
      await page.getByText('1 name', { exact: true }).waitFor()
      await page.getByRole('link', { name: /^Ben Penciller/ }).click()
      await page.getByText('1 series', { exact: true }).waitFor()
      await page.getByText('Star Harbour').first().waitFor()
      await page.goBack()
      await page.getByRole('link', { name: 'Books: Ben Penciller' }).click()
      await page.getByText('1 book', { exact: true }).waitFor()
      await page.getByText('The Lighthouse').waitFor()
      await page.goBack()
      await page.getByRole('link', { name: 'Genres' }).click()
      await page.getByRole('searchbox', { name: 'Search names' }).fill('adv')
      await page.getByText('1 name', { exact: true }).waitFor()
      await page.getByRole('link', { name: 'Books: Adventure' }).click()
      await page.getByText('2 books', { exact: true }).waitFor()
    }
  })

  await testPages('names change with the catalog', async (t, open) => {
    const events = /\/events\/stream/
    const page = await open(null, { account: reader })
    const stream = page.waitForResponse(events)
    await page.goto(`${base}/publishers`)
    await page.getByText('No names yet').waitFor()
    await stream
    await admin.patch(`/series/${books.comic.seriesId}/metadata`, { publisher: 'Acme' })
    await page.getByRole('link', { name: /^Acme/ }).click()
    await page.getByRole('button', { name: 'Remove filter Publisher: Acme' }).waitFor()
    await page.goto(`${base}/series/${books.comic.seriesId}`)
    await page.getByRole('link', { name: 'Acme' }).click()
    await page.getByText('1 series', { exact: true }).waitFor()
    t.pass()
  })

  await testPages('recently read books, the last one first', async (t, open) => {
    await reader.put(`/books/${books.comic.id}/progress`, { currentPage: 2 })
    await reader.put(`/books/${books.novel.id}/progress`, { currentPage: 4, completed: true })
    const page = await open('/', { account: reader })
    await page.getByRole('heading', { name: 'Recently read' }).getByRole('link').click()
    await page.getByText('2 books', { exact: true }).waitFor()
    t.same(await page.locator('.lists-title').allInnerTexts(), ['The Mill', 'The Lighthouse'])
    const unread = await open('/recently-read', { account: restricted })
    await unread.getByText('No books read yet').waitFor()
  })

  await testPages(
    'rows of the home page are chosen by keyboard, for the account',
    async (t, open) => {
      const page = await open('/', { account: reader })
      const before = await (async () => {
        await page.getByRole('button', { name: 'Choose rows' }).waitFor()
        return await shelvesOf(page)
      })()
      t.equal(before[0], 'Keep reading')
      await page.getByRole('button', { name: 'Choose rows' }).press('Enter')
      await page.getByRole('checkbox', { name: 'Keep reading' }).press('Space')
      const up = page.getByRole('button', { name: 'Move up: Recently read' })
      await up.focus()
      for (let i = 0; i < 5; i++) await page.keyboard.press('Enter')
      t.equal(
        await page.evaluate<string>('document.activeElement.getAttribute("aria-label")'),
        'Move down: Recently read',
        'at the top the focus is at the other button',
      )
      await page.getByRole('button', { name: 'Save', exact: true }).press('Enter')
      await page.getByRole('dialog').waitFor({ state: 'detached' })
      const chosen = ['Recently read', ...before.filter(name => !/read(?:ing)?$/.test(name))]
      await waitUntil(async () => String(await shelvesOf(page)) === String(chosen))
      const elsewhere = await open('/', { account: reader, width: 390, height: 844 })
      await elsewhere.getByRole('button', { name: 'Choose rows' }).waitFor()
      t.same(await shelvesOf(elsewhere), chosen, 'in another browser')
      const others = await open('/', { account: admin })
      await others.getByRole('button', { name: 'Choose rows' }).waitFor()
      t.equal((await shelvesOf(others))[0], 'New series', 'of another account')
      await elsewhere.getByRole('button', { name: 'Choose rows' }).click()
      await elsewhere.getByRole('button', { name: 'Restore default' }).click()
      await elsewhere.getByRole('button', { name: 'Save', exact: true }).click()
      await waitUntil(async () => String(await shelvesOf(elsewhere)) === String(before))
      t.same((await reader.get('/user/preferences')).body.preferences, [])
    },
  )
})
