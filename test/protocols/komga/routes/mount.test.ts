// Mounting of the Komga-compatible API: enabled and moved while the server runs, behind proxies, on a listener.
import { test } from 'tap'
import { resources } from '../../../../lib/api/resources.ts'
import { endpoints } from '../../../../lib/http/route.ts'
import { parseSetting } from '../../../../lib/store/setting/definition.ts'
import { stopRefill } from '../../../kit/http/rate-limit.ts'
import { sendBytes } from '../../../kit/http/raw.ts'
import { enableKomga } from '../../../kit/komga.ts'
import { startApiWithoutPipeline } from '../../../kit/server.ts'

test('the API under a prefix', async t => {
  const all = await startApiWithoutPipeline(t, { 'komga.bind': '127.0.0.1:0' })
  const admin = await all.createUser('admin')
  const headers = { 'x-api-key': admin.key }
  const root = `http://127.0.0.1:${all.api.compatiblePort}`
  const status = async (url: string) => (await fetch(url, { headers })).status
  const me = '/api/v2/users/me'

  t.equal(await status(`${all.base}/komga${me}`), 404, 'disabled')
  t.equal(await status(`${root}${me}`), 404, 'disabled')
  await enableKomga(admin)
  for (const path of [me, `${me}/`, `/${me}`, `${me}?unknown=1`])
    t.equal(await status(`${all.base}/komga${path}`), 200, path)
  t.equal(await status(`${root}${me}`), 200, 'at the root of the listener')
  t.equal(await status(`${all.base}${me}`), 404, 'not at the root of the main one')
  t.equal(await status(`${all.base}/api/v1/auth/me`), 200)

  await enableKomga(admin, { prefix: 'comics' })
  t.equal(await status(`${all.base}/komga${me}`), 404)
  t.equal(await status(`${all.base}/comics${me}`), 200)
  await enableKomga(admin, { enabled: false })
  t.equal(await status(`${all.base}/comics${me}`), 404)
})

test('bytes that are no request are limited on the listener, too', async t => {
  const all = await startApiWithoutPipeline(t, {
    'komga.bind': '127.0.0.1:0',
    'rate_limit.enabled': true,
    'rate_limit.anonymous_burst': 2,
    'rate_limit.anonymous_rps': 1,
  })
  await stopRefill(all.sql)
  const statuses = []
  for (let i = 0; i < 4; i++) {
    const response = await sendBytes(all.api.compatiblePort!, 'NONSENSE\r\n\r\n')
    statuses.push(response.split(' ')[1])
  }
  t.same(statuses, ['400', '400', '429', '429'])
})

test('no other path of the server is a prefix', async t => {
  const segments = new Set(resources.flatMap(endpoints).map(({ path }) => path.split('/')[1]!))
  for (const segment of [...segments, 'docs', 'API', 'openapi.json', '', 'a/b', '..', 'ä'])
    t.throws(() => parseSetting('komga.prefix', segment), /prefix (must be|is not valid)/, segment)
  t.equal(parseSetting('komga.prefix', 'komga-1.2'), 'komga-1.2')
})
