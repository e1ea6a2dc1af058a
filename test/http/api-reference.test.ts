// Interactive API reference, also in a browser without network access.
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { test } from 'tap'
import { browserPath } from '../kit/files/page.ts'
import { startApi } from '../kit/server.ts'

const run = promisify(execFile)
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

  await t.test('a browser renders it', { skip: browserPath ? false : 'no browser' }, async t => {
    const { stdout } = await run(
      browserPath!,
      [
        '--headless',
        '--no-sandbox',
        '--disable-gpu',
        '--virtual-time-budget=8000',
        '--dump-dom',
        '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1',
        `${on.base}/reference/`,
      ],
      { timeout: 60_000, maxBuffer: 64 * 1024 * 1024 },
    )
    t.match(stdout, /id="operations-tag-books"/)
    t.match(stdout, /id="operations-tag-series"/)
  })
})
