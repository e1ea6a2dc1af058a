// Files of the web application as they are served: cached for good, compressed, under a strict policy; base paths.
import { get as httpGet, type IncomingHttpHeaders } from 'node:http'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { type Test, test } from 'tap'
import { apiDefaults, startApiWithoutPipeline } from '../kit/server.ts'

const browser = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }

/** Compressed size of the application's first load. */
const maxInitialBytes = 120_000

type Response = { status: number; headers: IncomingHttpHeaders; bytes: Buffer }

/** Without decompression. */
function get(url: string, headers: Record<string, string> = {}): Promise<Response> {
  return new Promise((resolve, reject) => {
    const request = httpGet(url, { headers }, async response => {
      const chunks: Buffer[] = await response.toArray()
      const { statusCode: status = 0, headers } = response
      resolve({ status, headers, bytes: Buffer.concat(chunks) })
    })
    request.on('error', reject)
  })
}

/** Paths of the files that the document loads, as browsers resolve them. */
async function referencedFiles(url: string, headers: Record<string, string> = {}) {
  const html = (await get(url, { ...browser, ...headers })).bytes.toString()
  const root = new URL(/<base href="([^"]*)">/.exec(html)![1]!, url)
  const links = [
    ...html.matchAll(/(?:<link(?! rel="alternate")[^>]* href|<script[^>]* src)="([^"]*)"/g),
  ]
  return [...new Set(links.map(([, link]) => new URL(link!, root).pathname))]
}

const iconsOf = (manifest: Response): string[] =>
  JSON.parse(manifest.bytes.toString()).icons.map((icon: { src: string }) => icon.src)

test('the application as files', async t => {
  const { base } = await startApiWithoutPipeline(t)

  await t.test('its document is served at every address but those of the API', async t => {
    for (const path of ['/', '/series/1', '/books/1/read?page=2', '/unknown', '/sign-in']) {
      const { status, headers, bytes } = await get(base + path, browser)
      t.equal(status, 200, path)
      t.match(headers['content-type'], /^text\/html/)
      t.equal(headers['cache-control'], 'no-cache')
      t.match(bytes.toString(), /<div id="app">/)
      t.match(bytes.toString(), /<div id="outdated" hidden>/, 'shown by older browsers')
      t.match(bytes.toString(), /<noscript>.*<a href="opds">/, 'relative to the base path')
    }
    for (const path of ['/api/v1/unknown', '/opds/unknown', '/assets/0/main.js']) {
      const { status, headers } = await get(base + path, browser)
      t.equal(status, 404, path)
      t.match(headers['content-type'], /^application\/json/, path)
    }
    t.equal((await get(`${base}/unknown`)).status, 404, 'other clients get an error')
    const posted = await fetch(`${base}/series/1`, { method: 'POST', headers: browser })
    t.equal(posted.status, 404)
    await posted.body?.cancel()
  })

  await t.test('its policy allows nothing inline and no other host', async t => {
    const { headers, bytes } = await get(`${base}/`, browser)
    const policy = String(headers['content-security-policy'])
    const directives = policy.split('; ')
    for (const directive of [
      "default-src 'none'",
      "script-src 'self'",
      "frame-ancestors 'none'",
      "require-trusted-types-for 'script'",
    ])
      t.ok(directives.includes(directive), directive)
    t.notMatch(policy, /unsafe|https?:|\*/)
    t.notMatch(bytes.toString(), /<script(?![^>]* src=)|<style| on\w+=| style=/i)
    t.notMatch(bytes.toString(), /(?:src|href)="(?:https?:)?\/\//)
    t.equal(headers['x-content-type-options'], 'nosniff')
    const openerPolicyAt = async (host: string) =>
      (await get(`${base}/`, { ...browser, host })).headers['cross-origin-opener-policy']
    t.equal(await openerPolicyAt('localhost:8080'), 'same-origin')
    t.equal(await openerPolicyAt('192.168.1.2:8080'), undefined, 'an error without secure context')
  })

  await t.test('its files have addresses of their build and are cached for good', async t => {
    const icons = iconsOf(await get(`${base}/manifest.webmanifest`))
    t.ok(icons.length >= 3)
    const files = [...(await referencedFiles(`${base}/`)), ...icons]
    const built = files.filter(path => /^\/assets\/[\da-f]{16}\//.test(path))
    t.same(
      files.filter(path => !built.includes(path)),
      ['/manifest.webmanifest'],
    )
    for (const path of built) await checkBuilt(t, base + path)
    const { headers } = await get(`${base}/service-worker.js`)
    t.equal(headers['cache-control'], 'no-cache', 'a new service worker is found')
  })

  await t.test('it is loaded with at most 120 KB', async t => {
    let sum = 0
    for (const path of ['/', ...(await referencedFiles(`${base}/`))])
      sum += (await get(base + path, { ...browser, 'accept-encoding': 'br' })).bytes.length
    t.ok(sum < maxInitialBytes, `${sum} bytes`)
  })
})

async function checkBuilt(t: Test, url: string) {
  const plain = await get(url)
  t.equal(plain.status, 200, url)
  t.equal(plain.headers['cache-control'], 'public, max-age=31536000, immutable')
  const isCompressed = plain.headers['content-type'] === 'image/png'
  for (const [coding, decompress] of Object.entries({
    br: brotliDecompressSync,
    gzip: gunzipSync,
  })) {
    const packed = await get(url, { 'accept-encoding': coding })
    t.equal(packed.headers['content-encoding'], isCompressed ? undefined : coding, url)
    t.ok((isCompressed ? packed.bytes : decompress(packed.bytes)).equals(plain.bytes), coding)
  }
  const { status } = await get(url, { 'if-none-match': plain.headers.etag! })
  t.equal(status, 304, 'is not sent again')
}

test('the base path of a proxy is part of all addresses', async t => {
  // The servers share a data directory, and so the build of the application.
  const { startAnother } = await startApiWithoutPipeline(t)
  const serverWith = (settings: Record<string, unknown>) =>
    startAnother({ settings: { ...apiDefaults, ...settings } })
  const configured = await serverWith({ 'application.public_url': 'https://books.example/shelf/' })
  const forwarded = await serverWith({ 'application.trusted_proxies': '127.0.0.1' })
  const prefix = { 'x-forwarded-prefix': '/shelf' }
  for (const { url, headers } of [
    // With a proxy that removes the prefix, and one that does not.
    { url: `${configured.base}/`, headers: {} },
    { url: `${configured.base}/shelf/series/1`, headers: {} },
    { url: `${forwarded.base}/`, headers: prefix },
    { url: `${forwarded.base}/shelf/series/1`, headers: prefix },
  ]) {
    const files = await referencedFiles(url, headers)
    const manifest = await get(new URL('/manifest.webmanifest', url).href, headers)
    t.same(
      [...files, ...iconsOf(manifest)].filter(path => !path.startsWith('/shelf/')),
      [],
      url,
    )
    t.match(JSON.parse(manifest.bytes.toString()), { start_url: '/shelf/', scope: '/shelf/' })
    for (const path of [files.at(-1)!, files.at(-1)!.slice('/shelf'.length)]) {
      const { status, headers: received } = await get(new URL(path, url).href, headers)
      t.equal(status, 200, path)
      t.match(received['content-type'], /javascript/)
    }
  }
})
