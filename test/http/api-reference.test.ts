// Interactive API reference, also in a browser without network access.
import { test } from 'tap'
import { startApi } from '../kit/server.ts'
import { browserTimeoutMs, skipWithoutBrowser, useBrowser } from '../kit/web/browser.ts'

test('the reference is served only if it is enabled', async t => {
  const off = await startApi(t)
  t.equal((await fetch(`${off.base}/docs/`)).status, 404)
  const on = await startApi(t, { 'api.enable_api_docs': true, 'api.api_docs_path': '/reference' })
  const page = await fetch(`${on.base}/reference/`)
  t.equal(page.status, 200)
  const policy = page.headers.get('content-security-policy')
  t.match(policy, /default-src 'self'/)
  t.notMatch(policy, /https?:/)
  for (const path of ['/openapi.json', '/reference/json']) {
    t.equal((await fetch(`${off.base}${path}`)).status, 404)
    const document = await (await fetch(`${on.base}${path}`)).json()
    t.match(document, { openapi: '3.1.0', servers: [{ url: '/' }] }, path)
  }
  const html = await page.text()
  t.notMatch(html, /(?:src|href)="(?:https?:)?\/\//, 'no resources of other hosts')

  await t.test('a browser renders it', { skip: skipWithoutBrowser(1) }, async t => {
    const browser = await useBrowser(t)
    const page = await browser.newPage()
    t.teardown(() => page.close())
    page.setDefaultTimeout(browserTimeoutMs)
    // The whole document takes a browser ten seconds.
    await page.route(`${on.base}/reference/json`, async route => {
      const response = await route.fetch()
      const document = await response.json()
      const { '/api/v1/books': books, '/api/v1/series': series } = document.paths
      const paths = { '/api/v1/books': books, '/api/v1/series': series }
      await route.fulfill({ response, json: { ...document, paths } })
    })
    await page.goto(`${on.base}/reference/`)
    for (const tag of ['books', 'series']) await page.locator(`#operations-tag-${tag}`).waitFor()
  })
})
