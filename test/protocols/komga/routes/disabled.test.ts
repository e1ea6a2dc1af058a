// The Komga-compatible API while it is disabled: unknown addresses, and modules that are not loaded.
import { readdirSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { test } from 'tap'
import { endpoints } from '../../../../lib/http/route.ts'
import { enableKomga } from '../../../kit/komga.ts'
import { startApiWithoutPipeline } from '../../../kit/server.ts'
import { oneIn } from '../../../kit/suite/sample.ts'

const folder = join(import.meta.dirname, '../../../../lib/protocols/komga')
const modules = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  .filter(name => name.endsWith('.ts'))
  .map(name => pathToFileURL(join(folder, name)).href)

// In a process of its own (test/all.ts): modules are loaded once.
test('while the API is disabled, none of its addresses exists and nothing of it is loaded', async t => {
  const loaded = new Set<string>()
  const hooks = registerHooks({
    load(url, context, next) {
      loaded.add(url)
      return next(url, context)
    },
  })
  t.teardown(() => hooks.deregister())
  const all = await startApiWithoutPipeline(t, { 'komga.bind': '127.0.0.1:0' })
  const admin = await all.createUser('admin')
  const headers = { 'x-api-key': admin.key }
  const bases = [`${all.base}/komga`, `http://127.0.0.1:${all.api.compatiblePort}`]
  const status = async (url: string, method = 'GET') => {
    const response = await fetch(url, { method, headers })
    await response.body?.cancel()
    return response.status
  }
  const read = ['/api/v1/series', '/opds/v1.2/catalog', '/koreader/healthcheck', '/api/logout', '/']
  for (const url of bases.flatMap(base => read.map(path => base + path)))
    t.equal(await status(url), 404, url)
  const loadedModules = () => modules.filter(url => loaded.has(url))
  t.same(loadedModules(), [], 'not loaded')

  await enableKomga(admin)
  for (const base of bases) t.equal(await status(`${base}/api/v1/series`), 200)
  t.same(loadedModules(), modules, 'loaded by the first request')

  await enableKomga(admin, { enabled: false })
  const { komgaResources } = await import('../../../../lib/api/komga.ts')
  const some = komgaResources.flatMap(endpoints).filter(oneIn(20))
  for (const { method, path } of some)
    for (const base of bases)
      t.equal(
        await status(base + path.replace(/\{[^}]+\}/g, '1'), method),
        404,
        `${method} ${path}`,
      )
})
