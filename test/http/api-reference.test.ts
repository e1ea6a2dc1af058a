// The interactive reference, as a browser without any internet sees it.
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { test } from 'tap'
import { browser } from '../kit/page.ts'
import { serve } from '../kit/server.ts'

const run = promisify(execFile)
test('the reference is there when it is asked for, and only then', async t => {
  const off = await serve(t)
  t.equal((await fetch(`${off.base}/docs/`)).status, 404)
  const on = await serve(t, { 'api.enable_api_docs': true, 'api.api_docs_path': '/reference' })
  const page = await fetch(`${on.base}/reference/`)
  t.equal(page.status, 200)
  const policy = page.headers.get('content-security-policy')
  t.match(policy, /default-src 'self'/)
  t.notMatch(policy, /https?:/)
  const html = await page.text()
  t.notMatch(html, /(?:src|href)="(?:https?:)?\/\//, 'nothing comes from elsewhere')

  await t.test('a browser shows it', { skip: browser ? false : 'no browser here' }, async t => {
    const { stdout } = await run(
      browser!,
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
