// Service worker: stores the files of the application, so that it starts without a connection. What belongs to an
// account (lists, images, books) is never stored.
declare const self: ServiceWorkerGlobalScope
/** Written before this code by the build. */
declare const build: { digest: string; paths: string[] }

const scope = self.registration.scope
/** A host may have several servers, each below its own path. */
const cachePrefix = `stackroom:${new URL(scope).pathname}:`
const cacheName = cachePrefix + build.digest

self.addEventListener('install', event => {
  event.waitUntil(storeFiles().then(() => self.skipWaiting()))
})

self.addEventListener('activate', event => {
  event.waitUntil(deleteOtherBuilds().then(() => self.clients.claim()))
})

self.addEventListener('fetch', event => {
  const { request } = event
  if (request.method !== 'GET' || !request.url.startsWith(scope)) return
  const path = request.url.slice(scope.length).split(/[?#]/, 1)[0]!
  if (request.mode === 'navigate') {
    if (!isApi(path)) event.respondWith(fetchDocument(request))
  } else if (path.startsWith(`assets/${build.digest}/`)) event.respondWith(cachedFirst(request))
})

// The language of the page that registered the service worker, which has loaded its texts before.
self.addEventListener('message', event => {
  const path = `text/${event.data}.json`
  if (build.paths.includes(path))
    event.waitUntil(cachedFirst(new Request(`${scope}assets/${build.digest}/${path}`)))
})

const isApi = (path: string) =>
  /^(?:api|opds|opds-comics|auth|docs|health|metrics)(?:\/|$)/.test(path)

/** Without the texts, of which a browser needs one language. */
async function storeFiles() {
  const cache = await caches.open(cacheName)
  const paths = build.paths.filter(path => !path.startsWith('text/'))
  const files = paths.map(path => `${scope}assets/${build.digest}/${path}`)
  await cache.addAll([scope, `${scope}manifest.webmanifest`, ...files])
}

async function deleteOtherBuilds() {
  const names = await caches.keys()
  const others = names.filter(name => name.startsWith(cachePrefix) && name !== cacheName)
  await Promise.all(others.map(name => caches.delete(name)))
}

/** The document is the same at every address. A new one names a new build, whose files are not stored yet. */
async function fetchDocument(request: Request): Promise<Response> {
  try {
    return await fetch(request)
  } catch (error) {
    const stored = await caches.match(scope, { cacheName })
    if (!stored) throw error
    return stored
  }
}

async function cachedFirst(request: Request): Promise<Response> {
  const stored = await caches.match(request, { cacheName, ignoreVary: true })
  if (stored) return stored
  const response = await fetch(request)
  // The texts of a language that was not in use before. A full disk must not keep them from the page.
  if (response.ok) await store(request, response.clone()).catch(() => {})
  return response
}

const store = async (request: Request, response: Response) =>
  await (await caches.open(cacheName)).put(request, response)
