// Texts, file names and books that try to run scripts or to load something from other hosts, in every view.
import type { Frame, Page } from 'playwright-core'
import { test } from 'tap'
import { startApp } from '../kit/web/app.ts'
import { skipWithoutBrowser } from '../kit/web/browser.ts'
import { hostileFiles, hostileText } from '../kit/web/hostile.ts'
import { testWithPages, waitUntil } from '../kit/web/page.ts'
import { adminViews, readerViews, visit } from '../kit/web/views.ts'

test('hostile texts and books', { skip: skipWithoutBrowser(2) }, async t => {
  const app = await startApp(t, { files: await hostileFiles() })
  const { admin, library } = app
  const books = await library.books()
  const bookIds = books.filter(({ error }) => error === null).map(({ id }) => id)
  const seriesIds = [...new Set(books.map(({ seriesId }) => seriesId))]
  await admin.patch(`/libraries/${library.id}`, { name: hostileText('library') })
  const named = (kind: string) => ({ name: hostileText(kind), summary: hostileText(kind) })
  const collection = await admin.post('/collections', { ...named('collection'), seriesIds })
  const readList = await admin.post('/readlists', { ...named('read-list'), bookIds })
  await admin.post('/want-to-read/bulk', { seriesIds, bookIds })
  const person = await app.createPerson('reader', '<img src=x onerror=fetch(1)>')
  for (const id of bookIds) await admin.put(`/books/${id}/progress`, { currentPage: 1 })
  const views = {
    library,
    seriesIds,
    bookIds,
    collection: collection.body.id,
    readList: readList.body.id,
    user: person.id,
  }

  const testPages = testWithPages(t, app)
  await testPages('are shown as text in every view', async (t, open) => {
    const page = await open('/')
    page.on('dialog', dialog => t.fail(`dialog ${dialog.message()}`))
    for (const path of [...readerViews(views), ...adminViews(views)]) {
      const before = page.problems().length
      await visit(page, path)
      t.same(page.problems().slice(before), [], path)
    }
  })
  await testPages('run nothing and load nothing in the readers', async (t, open) => {
    const page = await open(null)
    page.on('dialog', dialog => t.fail(`dialog ${dialog.message()}`))
    for (const { id, name } of books.filter(({ error }) => error === null)) {
      const before = page.problems().length
      await page.goto(`${app.base}/books/${id}/read`)
      if (name.startsWith('comic'))
        await page.getByRole('img', { name: 'Page 1 of 3' }).first().waitFor()
      else {
        const layout = name.startsWith('fixed') ? 'fixed' : 'reflowable'
        await waitForText(page, `The end of ${layout}-one.`)
        await page.getByRole('button', { name: 'Next section' }).click()
        await waitForText(page, `The end of ${layout}-two.`)
      }
      t.same(page.problems().slice(before), [], name)
    }
  })
})

/** Waits until a document of an EPUB with this text is in one of the frames. */
async function waitForText(page: Page, text: string) {
  const count = (frame: Frame) =>
    frame
      .getByText(text)
      .count()
      // Frames of other documents are removed.
      .catch(() => 0)
  await waitUntil(async () => (await Promise.all(page.frames().map(count))).some(n => n > 0))
}
