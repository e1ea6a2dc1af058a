// Bookmarks in the three readers: set, noted, followed on another page, deleted; each account has its own.
import { test } from 'tap'
import { accessibilityProblems } from '../../kit/web/accessibility.ts'
import { startApp } from '../../kit/web/app.ts'
import { skipWithoutBrowser } from '../../kit/web/browser.ts'
import { type AppPage, horizontalOverflow, testWithPages, waitUntil } from '../../kit/web/page.ts'

const phone = { width: 390, height: 844 }

/** A button of the bars, whose name shows whether the displayed place has a bookmark. */
const button = (page: AppPage, name: string) => page.getByRole('button', { name, exact: true })

test('bookmarks', { skip: skipWithoutBrowser(5) }, async t => {
  const app = await startApp(t, { books: ['comic', 'pdf', 'novel', 'picture'] })
  const { comic, pdf, novel, picture } = app.books
  const maintainer = await app.createPerson('maintainer', 'mia')
  const testPages = testWithPages(t, app)
  const bookmarksOf = async (account: { get: typeof app.admin.get }, id: string) =>
    (await account.get(`/books/${id}/annotations`)).body.data

  for (const [account, book, page] of [
    [app.admin, comic, 'comic'],
    [maintainer, pdf, 'PDF'],
    [app.reader, comic, 'comic of a reader'],
  ] as const)
    await testPages(`a page of a ${page} has a bookmark with a note`, async (t, open) => {
      const page = await open(`/books/${book.id}/read?page=2`, { account, ...phone })
      await button(page, 'Add bookmark').waitFor()
      await page.keyboard.press('b')
      await page.getByText('Bookmark added.').waitFor()
      await button(page, 'Add note').click()
      await page.getByLabel('Note', { exact: true }).fill('Look again')
      t.same(await accessibilityProblems(page), [])
      await button(page, 'Save').click()
      const dialog = page.getByRole('dialog', { name: 'Bookmarks' })
      await dialog.getByText('Look again').waitFor()
      t.equal(await horizontalOverflow(page), 0)
      await waitUntil(async () => (await bookmarksOf(account, book.id))[0]?.note !== null)
      t.match(await bookmarksOf(account, book.id), [
        { note: 'Look again', locator: { locations: { position: 2 } } },
      ])
      await page.keyboard.press('Escape')
      await button(page, 'Remove bookmark').waitFor()
      await page.keyboard.press('End')
      await page.getByText(`Page ${book.pages} of ${book.pages}`).waitFor({ state: 'attached' })
      await page.keyboard.press('Tab')
      await button(page, 'Add bookmark').waitFor()
      await page.keyboard.press('l')
      await dialog.getByRole('button', { name: /^Page 2/ }).click()
      await page.getByText(`Page 2 of ${book.pages}`).waitFor({ state: 'attached' })
    })

  await testPages('other pages and devices follow; a deletion can be undone', async (t, open) => {
    const { account, ...options } = { account: app.reader, ...phone }
    const page = await open(`/books/${novel.id}/read`, { account, ...options })
    await page.locator('.epub-frame.shown').waitFor()
    await page.keyboard.press('End')
    await page.locator('.epub-foot').filter({ hasText: '100%' }).waitFor()
    await page.keyboard.press('ArrowLeft')
    await page.keyboard.press('b')
    await button(page, 'Remove bookmark').waitFor()
    await waitUntil(async () => (await bookmarksOf(app.reader, novel.id)).length === 1)
    const [bookmark] = await bookmarksOf(app.reader, novel.id)
    t.equal(bookmark.locator.title, 'Bread')
    t.ok(bookmark.locator.text.highlight.length > 10)
    // Larger letters: the place is on another page, which still has the mark.
    const other = await open(`/books/${novel.id}/read`, { context: page.context() })
    await other.locator('.epub-frame.shown').waitFor()
    for (let i = 0; i < 4; i++) await other.keyboard.press('+')
    await other.keyboard.press('Home')
    await button(other, 'Add bookmark').waitFor()
    await other.keyboard.press('l')
    const dialog = other.getByRole('dialog', { name: 'Bookmarks' })
    t.same(await accessibilityProblems(other), [])
    await dialog.getByRole('button', { name: /^Bread · \d+%/ }).click()
    await button(other, 'Remove bookmark').waitFor()
    const path = `/books/${novel.id}/annotations/${bookmark.id}`
    t.equal((await app.reader.patch(path, { note: 'From a phone' })).status, 200)
    await page.keyboard.press('t')
    await page.getByRole('tab', { name: 'Bookmarks' }).click()
    await page.getByText('From a phone').waitFor()
    await button(page, 'Delete bookmark').click()
    await page.getByText('No bookmarks yet').waitFor()
    await button(other, 'Add bookmark').waitFor()
    await button(page, 'Undo').click()
    await page.getByText('From a phone').waitFor()
    await button(other, 'Remove bookmark').waitFor()
    t.same(await bookmarksOf(app.admin, novel.id), [], 'of this account only')
  })

  await testPages('a fixed page, and without connection', async (t, open) => {
    const page = await open(`/books/${picture.id}/read`, { width: 1440, height: 900, dark: true })
    await page.locator('.epub-frame.shown').first().waitFor()
    page.expectProblem(/ERR_INTERNET_DISCONNECTED/)
    await page.context().setOffline(true)
    await page.keyboard.press('b')
    await page.getByText('Cannot reach the server').first().waitFor()
    await button(page, 'Add bookmark').waitFor()
    await page.context().setOffline(false)
    await page.getByText('Connection to the server lost').waitFor({ state: 'detached' })
    t.same(await bookmarksOf(app.admin, picture.id), [])
    await page.keyboard.press('b')
    await button(page, 'Remove bookmark').waitFor()
    await waitUntil(async () => (await bookmarksOf(app.admin, picture.id)).length === 1)
    await page.keyboard.press('ArrowRight')
    await button(page, 'Add bookmark').waitFor()
  })
})
