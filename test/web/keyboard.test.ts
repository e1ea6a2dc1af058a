// The web application by keyboard alone: all views and dialogs, and the focus after actions.
import type { Page } from 'playwright-core'
import { test } from 'tap'
import { type App, password, startApp } from '../kit/web/app.ts'
import { skipWithoutBrowser } from '../kit/web/browser.ts'
import { dialogProblems, focusOf, keyboardProblems } from '../kit/web/keyboard.ts'
import { testWithPages, waitUntil } from '../kit/web/page.ts'
import { adminViews, readerViews, visit } from '../kit/web/views.ts'

const press = async (page: Page, ...keys: string[]) => {
  for (const key of keys) await page.keyboard.press(key)
}
const dialogs = (page: Page) => page.locator('dialog[open]')
const heading = (page: Page, name: string) => page.getByRole('heading', { name, exact: true })

test('the web application by keyboard alone', { skip: skipWithoutBrowser(8) }, async t => {
  const app = await startApp(t, { books: ['comic', 'comic2', 'manga', 'webtoon', 'pdf', 'novel'] })
  const { admin, reader, books, library } = app
  const [seriesIds, bookIds] = [[books.comic.seriesId], [books.comic.id, books.comic2.id]]
  const collection = (await admin.post('/collections', { name: 'Favourites', seriesIds })).body.id
  const readList = (await admin.post('/readlists', { name: 'In order', bookIds })).body.id
  const testPages = testWithPages(t, app)
  const ids = {
    library,
    seriesIds,
    bookIds: [books.comic.id],
    collection,
    readList,
    user: reader.id,
  }

  await testPages('all controls of all views', async (t, open) => {
    const page = await open('/account/keys')
    const readers = (['comic', 'webtoon', 'pdf', 'novel'] as const).map(
      name => `/books/${books[name].id}/read`,
    )
    const views = [...readerViews(ids), ...adminViews(ids), '/admin/libraries/new', ...readers]
    for (const path of views) {
      await visit(page, path)
      t.same(await keyboardProblems(page), [], path)
    }
    const signedOut = await open('/sign-in', { account: null })
    await signedOut.getByLabel('Password').waitFor()
    t.same(await keyboardProblems(signedOut), [], 'sign-in')
  })

  await testPages('dialogs, from their button and back to it', async (t, open) => {
    const page = await open('/account')
    const openers: Record<string, string[][]> = {
      '/series': [['Filters']],
      [`/series/${books.comic.seriesId}`]: [
        ['More', 'Edit'],
        ['More', 'Add to collection'],
        ['More', 'Choose cover'],
      ],
      '/collections': [['New collection']],
      [`/collections/${collection}`]: [['Edit'], ['More', 'Delete']],
      '/readlists': [['Import CBL']],
      '/account/keys': [['Create API key']],
      '/admin/users': [['Create account']],
      '/admin/settings': [['History of Server name']],
      [`/admin/libraries/${library.id}`]: [['Delete library']],
      [`/books/${books.comic.id}/read`]: [['Reading settings']],
      [`/books/${books.novel.id}/read`]: [['Contents'], ['Text and display']],
    }
    for (const [path, chains] of Object.entries(openers)) {
      await visit(page, path)
      // The menu of a reader is shown.
      if (path.endsWith('/read')) await press(page, 'Tab')
      for (const names of chains) t.same(await dialogProblems(page, names), [], path)
    }
  })

  await testPages('the grid, a series, and back to where the reader was', async (t, open) => {
    const page = await open('/series')
    const links = page.locator('.lists-link')
    await links.nth(2).waitFor()
    await links.first().focus()
    await press(page, 'ArrowRight', 'ArrowRight', 'Enter')
    await page.waitForURL(/\/series\/./)
    await waitUntil(async () => (await focusOf(page)) === 'main')
    await page.goBack()
    const third = `document.activeElement === document.querySelectorAll('.lists-link')[2]`
    await waitUntil(() => page.evaluate<boolean>(third))
    await press(page, 'Tab', 'Space')
    const selection = page.getByRole('toolbar', { name: 'Selection' })
    await selection.getByRole('button', { name: 'Mark as read' }).focus()
    await press(page, 'Enter')
    await selection.waitFor({ state: 'detached' })
    t.not(await focusOf(page), 'body', 'the focus is not lost with the button')
  })

  await testPages('metadata with its lock', async (t, open) => {
    const page = await open(`/series/${books.manga.seriesId}`)
    await page.getByRole('button', { name: 'More', exact: true }).focus()
    await press(page, 'Enter')
    await page.getByRole('button', { name: 'Edit', exact: true }).waitFor()
    for (let i = 0; i < 12 && (await focusOf(page)) !== 'Edit'; i++) await press(page, 'ArrowDown')
    await press(page, 'Enter')
    await dialogs(page).getByLabel('Title', { exact: true }).and(page.locator(':focus')).waitFor()
    await press(page, 'ControlOrMeta+a')
    await page.keyboard.type('The Fox')
    await dialogs(page).getByRole('button', { name: 'Save' }).focus()
    await press(page, 'Enter')
    await heading(page, 'The Fox').waitFor()
    t.equal(await focusOf(page), 'More')
    const { body } = await admin.get(`/series/${books.manga.seriesId}/metadata/locks`)
    t.equal(body.title, true)
  })

  await testPages('what is deleted leaves the focus beside it', async (t, open) => {
    const page = await open('/admin/users')
    await page.getByLabel('New sharing tag').focus()
    for (const name of ['Adults', 'Children']) {
      await page.keyboard.type(name)
      await press(page, 'Enter')
      await page.getByText(name, { exact: true }).waitFor()
      await waitUntil(async () => (await page.getByLabel('New sharing tag').inputValue()) === '')
    }
    await page.getByRole('button', { name: 'Delete sharing tag Adults' }).focus()
    await press(page, 'Enter')
    await dialogs(page).waitFor()
    t.equal(await focusOf(page), 'Cancel', 'nothing is deleted by Enter alone')
    await press(page, 'Tab', 'Enter')
    await page.getByText('Adults', { exact: true }).waitFor({ state: 'detached' })
    await waitUntil(async () => (await focusOf(page)) === 'Delete sharing tag Children')
  })

  await testPages(
    'what is loaded behind a dialog does not move the focus in it',
    async (t, open) => {
      const page = await open('/admin/users')
      const field = page.getByLabel('New sharing tag')
      await field.fill('Teens')
      await field.press('Enter')
      await page.getByText('Teens', { exact: true }).waitFor()
      const { promise: isOpen, resolve: load } = Promise.withResolvers<void>()
      await page.route('**/admin/sharing-tags?*', async route => {
        await isOpen
        await route.continue()
      })
      await field.fill('Staff')
      await field.press('Enter')
      await waitUntil(async () => (await field.inputValue()) === '')
      await page.getByRole('button', { name: 'Delete sharing tag Teens' }).focus()
      await press(page, 'Enter')
      await dialogs(page).waitFor()
      await press(page, 'Tab')
      t.equal(await focusOf(page), 'Delete')
      load()
      await page.getByText('Staff', { exact: true }).waitFor()
      t.equal(await focusOf(page), 'Delete')
      await press(page, 'Enter')
      await page.getByText('Teens', { exact: true }).waitFor({ state: 'detached' })
    },
  )

  await testPages('unsaved edits are not lost without a question', async (t, open) => {
    const page = await open('/account')
    const question = heading(page, 'Discard changes?')
    const stay = async () => {
      await question.waitFor()
      await press(page, 'Enter')
      await question.waitFor({ state: 'detached' })
    }
    await page.getByRole('link', { name: 'API keys' }).click()
    await page.getByRole('button', { name: 'Create API key' }).focus()
    await press(page, 'Enter')
    const name = dialogs(page).getByLabel('Name', { exact: true })
    await name.waitFor()
    await page.keyboard.type('Tablet')
    await press(page, 'Escape')
    await stay()
    t.equal(await name.inputValue(), 'Tablet')
    // Browsers close a dialog by themselves when Escape is pressed again.
    await press(page, 'Escape', 'Escape', 'Escape', 'Escape')
    t.equal(await name.inputValue(), 'Tablet')
    await page.mouse.click(5, 5)
    await question.waitFor()
    await press(page, 'Tab', 'Enter')
    await dialogs(page).first().waitFor({ state: 'detached' })
    t.equal(await focusOf(page), 'Create API key')

    await page.getByRole('link', { name: 'Profile' }).click()
    await page.getByLabel('Email').fill('other@example.org')
    await page.getByRole('link', { name: 'Home' }).focus()
    await press(page, 'Enter')
    await stay()
    await page.goBack()
    await stay()
    t.equal(new URL(page.url()).pathname, '/account')
    t.equal(await page.getByLabel('Email').inputValue(), 'other@example.org')
    const reloads = page.waitForEvent('dialog')
    const reloaded = page.reload()
    const browserQuestion = await reloads
    t.equal(browserQuestion.type(), 'beforeunload')
    await browserQuestion.accept()
    await reloaded
    await page.getByLabel('Email').waitFor()
    await page.getByLabel('Email').fill('other@example.org')
    await page.goBack()
    await question.waitFor()
    await press(page, 'Tab', 'Enter')
    await page.waitForURL(/keys$/)
  })

  await testPages('a session that ends leaves what was typed', async (t, open) => {
    const page = await open('/admin/users')
    await page.getByRole('button', { name: 'Create account' }).focus()
    await press(page, 'Enter')
    await dialogs(page).getByLabel('User name').waitFor()
    await page.keyboard.type('eve')
    await press(page, 'Tab')
    await page.keyboard.type('eve@example.org')
    await dialogs(page).getByLabel('Password').focus()
    await page.keyboard.type(password)
    await endSession(app, page)
    page.expectProblem(/^401 /)
    await press(page, 'Enter')
    const again = page.locator('dialog', { has: heading(page, 'Your session has ended') })
    await again.waitFor()
    t.equal(await again.getByLabel('User name').inputValue(), 'ada')
    await page.keyboard.type(password)
    await press(page, 'Enter')
    // The request that was refused is sent again.
    await heading(page, 'eve').waitFor()
    t.equal(await dialogs(page).count(), 0)
  })

  await testPages('the sign-out, and the sign-in', async (t, open) => {
    const page = await open('/series')
    await page.getByRole('button', { name: 'Account ada' }).focus()
    await press(page, 'Enter', 'ArrowDown', 'ArrowDown')
    await waitUntil(async () => (await focusOf(page)) === 'Sign out')
    await press(page, 'Enter')
    await page.getByLabel('User name').waitFor()
    await page.keyboard.type('ada')
    await press(page, 'Tab')
    await page.keyboard.type(password)
    await press(page, 'Enter')
    await page.locator('.lists-link').first().waitFor()
    t.equal(new URL(page.url()).pathname, '/series')
  })
})

/** As another browser of the same session would do it. */
async function endSession(app: App, page: Page) {
  const { accessToken, refreshToken } = await page.evaluate<Record<string, string>>(
    "JSON.parse(localStorage['stackroom.session:/'])",
  )
  const client = app.withHeaders({ authorization: `Bearer ${accessToken}` })
  await client.post('/auth/logout', { refreshToken })
}
