// All views of the web application: without errors, on a phone without horizontal scrolling, accessible.
import { test } from 'tap'
import { accessibilityProblems } from '../kit/web/accessibility.ts'
import { startApp } from '../kit/web/app.ts'
import { skipWithoutBrowser } from '../kit/web/browser.ts'
import { horizontalOverflow, testWithPages } from '../kit/web/page.ts'
import { adminViews, fillViews, readerViews, visit } from '../kit/web/views.ts'

test('views of the web application', { skip: skipWithoutBrowser(2) }, async t => {
  const app = await startApp(t, { books: ['comic', 'comic2', 'manga', 'pdf', 'novel'] })
  const ids = await fillViews(app)
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
