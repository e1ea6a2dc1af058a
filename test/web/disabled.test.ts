// The web application while it is disabled: no addresses, and modules that are not loaded.
import { registerHooks } from 'node:module'
import { test } from 'tap'
import { startApiWithoutPipeline } from '../kit/server.ts'

const isOfWeb = (url: string) =>
  /\/lib\/web\/|\/node_modules\/(?:es-module-lexer|preact)\//.test(url)

// In a process of its own (test/all.ts): modules are loaded once.
test('a disabled application does not exist, and nothing of it is loaded', async t => {
  const loaded: string[] = []
  const hooks = registerHooks({
    load(url, context, next) {
      if (isOfWeb(url)) loaded.push(url)
      return next(url, context)
    },
  })
  t.teardown(() => hooks.deregister())
  const off = await startApiWithoutPipeline(t, { 'web.enabled': false })
  const paths = [
    '/',
    '/series/1',
    '/manifest.webmanifest',
    '/service-worker.js',
    '/assets/0/main.js',
  ]
  for (const path of paths) {
    const response = await fetch(off.base + path, { headers: { accept: 'text/html' } })
    t.equal(response.status, 404, path)
    t.match(await response.json(), { error: 'NotFound' })
  }
  await off.api.prepare()
  t.same(loaded, [], 'not loaded')

  const on = await startApiWithoutPipeline(t)
  t.equal((await fetch(on.base)).status, 200)
  t.ok(loaded.length > 0)
})
