// Web application without a connection: its own files from the service worker, and a message instead of the data.
import { basename } from 'node:path'
import { test } from 'tap'
import { startApp } from '../kit/web/app.ts'
import { skipWithoutBrowser } from '../kit/web/browser.ts'
import { testWithPages, waitUntil } from '../kit/web/page.ts'
import { visit } from '../kit/web/views.ts'

test('the application without a connection', { skip: skipWithoutBrowser(6) }, async t => {
  const app = await startApp(t, { books: ['comic', 'novel'] })
  const testPages = testWithPages(t, app)
  await testPages('it starts, shows a message, and continues', async (t, open) => {
    const page = await open('/', { language: 'de', options: { serviceWorkers: 'allow' } })
    await page.evaluate('navigator.serviceWorker.ready.then(() => true)')
    const storedPaths = () =>
      page.evaluate<string[]>(`caches.keys()
      .then(names => Promise.all(names.map(async name => (await caches.open(name)).keys())))
      .then(lists => lists.flat().map(request => new URL(request.url).pathname))`)
    await waitUntil(async () => (await storedPaths()).some(path => path.endsWith('/text/de.json')))
    const stored = await storedPaths()
    t.ok(stored.some(path => path.endsWith('/main.js')))
    t.same(
      stored.filter(path => /\/text\/.*\.json$/.test(path)).map(path => basename(path)),
      ['de.json'],
      'of the texts, those of its language',
    )
    t.same(
      stored.filter(path => path.startsWith('/api/')),
      [],
      'what belongs to an account is not stored',
    )

    page.expectProblem(/net::ERR_INTERNET_DISCONNECTED/)
    await page.context().setOffline(true)
    await page.goto(`${app.base}/unknown`)
    await page.getByRole('navigation', { name: 'Hauptmenü' }).waitFor()
    const lost = page.getByText('Die Verbindung zum Server ist unterbrochen')
    await lost.waitFor()
    await page.context().setOffline(false)
    await page.getByRole('button', { name: 'Konto ada' }).waitFor()
    await lost.waitFor({ state: 'hidden' })
  })

  await testPages(
    'a tab in the background has no event stream, and misses nothing',
    async (t, open) => {
      const page = await open('/collections')
      const streams = async () => {
        const { bytes } = await app.admin.get('/metrics', { headers: { accept: 'text/plain' } })
        return Number(/sse_clients\{stream="entity"\} (\d+)/.exec(bytes.toString())?.[1])
      }
      const show = (state: 'hidden' | 'visible') =>
        page.evaluate(`Object.defineProperty(document, 'visibilityState', { value: '${state}', configurable: true })
        document.dispatchEvent(new Event('visibilitychange'))`)
      await waitUntil(async () => (await streams()) === 1)
      // A collection of nothing has no cover.
      page.expectProblem(/^404 GET .*\/thumbnail/)
      await show('hidden')
      await waitUntil(async () => (await streams()) === 0)
      await app.admin.post('/collections', { name: 'Made meanwhile', seriesIds: [] })
      await show('visible')
      await page.getByText('Made meanwhile').waitFor()
      t.equal(await streams(), 1)
    },
  )

  await testPages('reading that a proxy refuses is stored and sent later', async (t, open) => {
    const { id } = app.books.comic
    const page = await open(`/books/${id}/read`)
    await page.locator('[data-page="1"] canvas').waitFor()
    page.expectProblem(/403/)
    await page.route('**/reading-sessions', route =>
      route.fulfill({ status: 403, contentType: 'text/html', body: '<h1>Sign in</h1>' }),
    )
    const refused = page.waitForResponse(/reading-sessions/)
    await page.keyboard.press('End')
    await page.keyboard.press('ArrowRight')
    t.equal((await refused).status(), 403)
    await page.unroute('**/reading-sessions')
    const stored = page.waitForResponse(/reading-sessions/)
    await page.evaluate(`dispatchEvent(new Event('online'))`)
    t.equal((await stored).status(), 200)
    t.match(await app.admin.get(`/books/${id}/progress`).then(({ body }) => body), {
      currentPage: 6,
    })
  })

  await testPages('a list that is limited is requested again', async (t, open) => {
    const page = await open(null)
    page.expectProblem(/429/)
    const busy = {
      status: 429,
      headers: { 'retry-after': '1' },
      json: { message: 'Too many requests' },
    }
    await page.route('**/series/list?*', route => route.fulfill(busy), { times: 1 })
    await page.goto(`${app.base}/series`)
    await page.locator('.lists-link').first().waitFor()
    t.match(page.url(), /series$/, 'without a reload')
  })

  await testPages('the page is loaded again for files of an upgraded server', async (t, open) => {
    const page = await open(`/books/${app.books.comic.id}/read`)
    await page.locator('.reader-page canvas').first().waitFor()
    page.expectProblem(/404|MIME type/)
    // What an upgraded server answers to a page of before.
    await page.route('**/assets/*/epub/**', route => route.fulfill({ status: 404, body: '' }))
    await page.route('**/manifest.webmanifest', async route => {
      await page.unroute('**/assets/*/epub/**')
      await route.fulfill({ status: 200, body: '{}' })
    })
    await visit(page, `/books/${app.books.novel.id}/read`)
    await page.locator('iframe').first().waitFor()
    t.match(page.url(), app.books.novel.id)
  })

  await testPages('an undo that fails is reported', async (t, open) => {
    const page = await open(`/series/${app.books.novel.seriesId}`)
    await page.getByRole('button', { name: 'More' }).first().click()
    await page.getByText('Mark as read', { exact: true }).first().click()
    const undo = page.getByRole('button', { name: 'Undo' })
    await undo.waitFor()
    page.expectProblem(/^500|status of 500/)
    await page.route('**/books/bulk/**', route => route.fulfill({ status: 500, body: '' }))
    await undo.click()
    await page.locator('.toast.error').waitFor()
    t.pass('the error is shown')
  })
})
