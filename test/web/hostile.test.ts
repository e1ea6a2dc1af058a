// Texts, file names and books that try to run scripts or to load something from other hosts, in every view.
import { test } from 'tap'
import { startApp } from '../kit/web/app.ts'
import { skipWithoutBrowser } from '../kit/web/browser.ts'
import { hostileFiles, hostileText } from '../kit/web/hostile.ts'
import { testWithPages } from '../kit/web/page.ts'
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
      await visit(page, path)
      t.same(page.problems(), [], path)
    }
  })
})
