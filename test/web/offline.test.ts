// Web application without a connection: its own files from the service worker, and a message instead of the data.
import { test } from 'tap'
import { startApp } from '../kit/web/app.ts'
import { skipWithoutBrowser } from '../kit/web/browser.ts'
import { testWithPages, waitUntil } from '../kit/web/page.ts'

test('the application without a connection', { skip: skipWithoutBrowser(2) }, async t => {
  const app = await startApp(t)
  const testPages = testWithPages(t, app)
  await testPages('it starts, shows a message, and continues', async (t, open) => {
    const page = await open('/', { options: { serviceWorkers: 'allow' } })
    await page.evaluate('navigator.serviceWorker.ready.then(() => true)')
    const stored = await page.evaluate<string[]>(`caches.keys()
      .then(names => Promise.all(names.map(async name => (await caches.open(name)).keys())))
      .then(lists => lists.flat().map(request => new URL(request.url).pathname))`)
    t.ok(stored.some(path => path.endsWith('/main.js')))
    t.same(
      stored.filter(path => path.startsWith('/api/')),
      [],
      'what belongs to an account is not stored',
    )

    page.expectProblem(/net::ERR_INTERNET_DISCONNECTED/)
    await page.context().setOffline(true)
    await page.goto(`${app.base}/unknown`)
    await page.getByRole('navigation', { name: 'Main' }).waitFor()
    await page.getByText('The connection to the server is lost').waitFor()
    await page.context().setOffline(false)
    await page.getByRole('button', { name: 'Account ada' }).waitFor()
    await page.getByText('The connection to the server is lost').waitFor({ state: 'hidden' })
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
})
