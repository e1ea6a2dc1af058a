// Kit of the browser tests: everything a browser reports about a page is a problem.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'tap'
import { skipWithoutBrowser } from '../kit/web/browser.ts'
import { testWithPages } from '../kit/web/page.ts'

const html = `<!doctype html><title>-</title><link rel="icon" href="data:,">
<script>document.title = 'inline'</script>
<iframe sandbox srcdoc="<script>1</script>"></iframe>
<script nonce="x">
  console.error('an error')
  new Image().src = 'http://other.example/x.png'
  setTimeout(() => { throw new Error('an exception') })
  fetch('/absent').then(() => { document.title = 'done' })
</script>`

test('problems of a page', { skip: skipWithoutBrowser(1) }, async t => {
  const server = createServer((request, response) => {
    if (request.url !== '/') return void response.writeHead(404).end()
    const policy = "default-src 'none'; script-src 'nonce-x'; connect-src 'self'"
    response.setHeader('content-security-policy', policy)
    response.setHeader('content-type', 'text/html')
    response.end(html)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const testPages = testWithPages(t, { base, admin: { username: '', password: '' } })
  await testPages('are found', async (t, open) => {
    const page = await open('/', { account: null })
    await page.waitForFunction('document.title === "done"')
    const found = page.problems()
    const patterns = [
      /^console error: an error$/,
      /^exception: Error: an exception/,
      /^404 GET \/absent$/,
      /^request to another origin: http:\/\/other.example\/x.png$/,
      /^console error: CSP script-src-elem inline/,
      /^console error: CSP img-src http:\/\/other.example/,
      /^console error: Blocked script execution in 'about:srcdoc'/,
    ]
    for (const pattern of patterns)
      t.ok(
        found.some(text => pattern.test(text)),
        pattern.source,
      )
    page.expectProblem(/./)
  })
})
