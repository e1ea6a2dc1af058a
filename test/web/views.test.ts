// All views of the web application: without errors, on a phone without horizontal scrolling, accessible.
import { test } from 'tap'
import { accessibilityProblems } from '../kit/web/accessibility.ts'
import { startApp } from '../kit/web/app.ts'
import { skipWithoutBrowser } from '../kit/web/browser.ts'
import { horizontalOverflow, testWithPages } from '../kit/web/page.ts'
import { adminViews, readerViews, visit } from '../kit/web/views.ts'

test('views of the web application', { skip: skipWithoutBrowser(2) }, async t => {
  const app = await startApp(t, { books: ['comic', 'comic2', 'manga', 'pdf', 'novel'] })
  const { admin, reader, books, library } = app
  const [seriesIds, bookIds] = [[books.comic.seriesId], [books.comic.id]]
  const collection = await admin.post('/collections', { name: 'Favourites', seriesIds })
  const readList = await admin.post('/readlists', { name: 'In order', bookIds })
  await admin.post('/want-to-read/bulk', { seriesIds, bookIds: [books.pdf.id] })
  await admin.put(`/books/${books.comic.id}/progress`, { currentPage: 3 })
  await admin.put(`/books/${books.novel.id}/progress`, { currentPage: 4, completed: true })
  const ids = {
    library,
    seriesIds,
    bookIds,
    collection: collection.body.id,
    readList: readList.body.id,
    user: reader.id,
  }
  const all = [...readerViews(ids), ...adminViews(ids)]
  const testPages = testWithPages(t, app)

  const settings = [
    { name: 'on a phone, dark', width: 360, height: 640, dark: true },
    { name: 'on a desktop, light', width: 1280, height: 900, dark: false },
  ]
  // The checks of axe take a third of a second each.
  for (const { name, ...options } of settings)
    await testPages(`are accessible and fit ${name}`, async (t, open) => {
      const page = await open('/', options)
      for (const path of options.dark ? all : all.slice(0, 10)) {
        const before = page.problems().length
        await visit(page, path)
        t.equal(await horizontalOverflow(page), 0, path)
        t.equal(await page.locator('h1').count(), 1, `${path} has one heading`)
        t.same(await accessibilityProblems(page), [], path)
        t.same(page.problems().slice(before), [], path)
      }
    })
})
