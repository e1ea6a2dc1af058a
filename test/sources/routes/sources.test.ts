// Administration of sources: create, change, enable, test, failures and back-off, secrets, the address of plugins.

import { join } from 'node:path'
import { test } from 'tap'
import { openLog } from '../../../lib/base/log.ts'
import { SourceFailure } from '../../../lib/sources/failure.ts'
import { callSource, recordFailure } from '../../../lib/sources/stored/call.ts'
import { openSources } from '../../../lib/sources/stored/open.ts'
import { enabledSources, storedSource } from '../../../lib/sources/stored/source.ts'
import { startApiWithoutPipeline } from '../../kit/server.ts'
import { failing } from '../failing.ts'
import { rss, rssItem, startFeedServer } from '../feed/server.ts'

const plugins = join(import.meta.dirname, '..', 'plugins')

test('sources', async t => {
  const api = await startApiWithoutPipeline(t, {
    'source.allowed_networks': '127.0.0.1',
    'plugins.dir': plugins,
  })
  const admin = await api.createUser('admin')
  const { sql } = api
  const feeds = await startFeedServer(t, {
    '/feed': (_, response) => void response.end(rss(rssItem(1))),
  })
  const url = `${feeds.base}/feed`
  const create = async (body: object) => await admin.post('/admin/sources', body)

  t.test('a source is created disabled, and its secrets are never returned', async t => {
    const { status, body } = await create({
      type: 'feed',
      name: 'books',
      displayName: 'Books',
      config: { url },
      credentials: { 'X-Api-Key': 'very-secret' },
    })
    t.equal(status, 201)
    t.match(body, {
      type: 'feed',
      name: 'books',
      config: { url },
      credentialNames: ['X-Api-Key'],
      enabled: false,
      health: 'disabled',
      description: null,
    })
    const path = `/admin/sources/${body.id}`
    t.same((await admin.get(path)).body, body)
    const changed = await admin.patch(path, { credentials: { Cookie: 'also-secret' } })
    t.same(changed.body.credentialNames, ['Cookie', 'X-Api-Key'])
    const removed = await admin.patch(path, { credentials: { 'X-Api-Key': null } })
    t.same(removed.body.credentialNames, ['Cookie'])
    const all = JSON.stringify((await admin.get('/admin/sources')).body)
    t.notMatch(all, /secret/)
    t.same(await enabledSources(sql), [])
    t.same(feeds.requests, [], 'nothing is called')
    const [list] = await sql`select key, kind, enabled from release_source`
    t.same(list, { key: 'feed', kind: 'rss-uploader', enabled: true }, 'its list is known')
    t.equal((await admin.patch(path, { enabled: true })).body.health, 'healthy')
    t.equal((await admin.post(`${path}/disable`)).body.enabled, false)
    t.equal((await admin.post(`${path}/enable`)).body.enabled, true)
  })

  t.test('invalid values are named', async t => {
    const good = { type: 'feed', name: 'other', config: { url } }
    const bad: [object, RegExp][] = [
      [{ ...good, name: 'Other Name' }, /name/],
      [{ ...good, name: 'comicinfo' }, /name/],
      [{ ...good, name: 'custom' }, /name/],
      [{ ...good, name: 'embedded' }, /name/],
      [{ ...good, type: 'other' }, /type/],
      [{ ...good, config: {} }, /config/],
      [{ ...good, config: { url: 'file:///etc/passwd' } }, /config\.url/],
      [{ ...good, config: { url, other: 1 } }, /config\.other is not a known setting/],
      [{ ...good, config: { url: 'https://ana:pw@x.example/' } }, /config\.url has a user name/],
      [{ ...good, config: { url: 'https://x .example/' } }, /config\.url is not a URL/],
      [{ ...good, config: { url, include: ['('] } }, /config\.include\.0/],
      [{ ...good, config: { url, language: 'xx-none' } }, /config\.language/],
      [{ ...good, credentials: { Host: 'x' } }, /credentials\.Host/],
      [{ ...good, credentials: { 'X-Key': 'a\r\nb: c' } }, /credentials\.X-Key/],
      [{ type: 'plugin', name: 'p', config: { plugin: '../../bin/sh' } }, /config\.plugin/],
      [{ type: 'plugin', name: 'p', config: { plugin: 'absent' } }, /config\.plugin/],
    ]
    for (const [body, message] of bad) {
      const response = await create(body)
      t.equal(response.status, 400, JSON.stringify(body))
      t.match(response.body.message, message)
    }
    t.equal((await create({ ...good, name: 'books' })).status, 409)
    const [{ id }] = (await admin.get('/admin/sources')).body.sources
    t.equal((await admin.patch(`/admin/sources/${id}`, { config: { url: 'x' } })).status, 400)
  })

  t.test('failures are logged, and the source is left alone after the third', async t => {
    const { body } = await create({ type: 'feed', name: 'gone', config: { url: `${url}s` } })
    const path = `/admin/sources/${body.id}`
    const attempt = async () => (await admin.post(`${path}/test`)).body
    t.match(await attempt(), { success: false, manifest: null, message: 'The feed does not exist' })
    await admin.post(`${path}/enable`)
    t.match((await admin.get(`${path}/health`)).body, { status: 'degraded', failures: 1 })
    await attempt()
    t.equal((await admin.get(path)).body.retryAt, null)
    await attempt()
    const { body: health } = await admin.get(`${path}/health`)
    t.match(health, { status: 'unhealthy', failures: 3, lastError: 'The feed does not exist' })
    const sources = openSources({ config: api.config, log: openLog({ level: 'silent' }) })
    const context = { sql, sources }
    const call = async () => {
      const row = await storedSource(sql, body.id)
      return await callSource(context, row, {
        operation: 'describe',
        call: source => source.describe({ signal: new AbortController().signal }),
      })
    }
    const before = feeds.requests.length
    await t.rejects(call(), failing({ kind: 'limited', retryAt: new Date(health.retryAt) }))
    t.equal(feeds.requests.length, before, 'it is not called')
    const failure = new SourceFailure('busy', 'limited', { retryAt: new Date('2090-01-01') })
    await recordFailure(sql, { sourceId: body.id, operation: 'listReleases', failure })
    t.equal((await admin.get(path)).body.retryAt, '2090-01-01T00:00:00.000Z')
    const { body: log } = await admin.get(`${path}/failures?pageSize=2`)
    t.equal(log.total, 4)
    t.match(log.data, [
      { operation: 'listReleases', kind: 'limited', message: 'busy' },
      { operation: 'describe', kind: 'status' },
    ])
    t.match((await admin.post(`${path}/reset`)).body, {
      failures: 0,
      lastError: null,
      retryAt: null,
    })
    t.equal((await admin.get(`${path}/failures`)).body.total, 4, 'the log stays')
    await admin.patch(path, { config: { url } })
    await call()
    t.match(await attempt(), { success: true, manifest: { displayName: 'New books' } })
    t.match((await admin.get(path)).body, {
      description: { displayName: 'New books' },
      failures: 0,
    })

    await sql`
      insert into source_failure (id, source_id, operation, kind, message)
      select gen_random_uuid(), ${body.id}, 'describe', 'status', 'x' from generate_series(1, 200)`
    await recordFailure(sql, { sourceId: body.id, operation: 'describe', failure })
    t.equal((await admin.get(`${path}/failures`)).body.total, 100, 'the log is bounded')
    await admin.patch(path, { enabled: false })
    await t.rejects(call(), failing({ kind: 'refused' }))
    t.equal((await admin.delete(path)).status, 204)
    t.equal((await admin.get(path)).status, 404)
    await recordFailure(sql, { sourceId: body.id, operation: 'describe', failure })
  })

  t.test('private addresses are refused without a trace of the server', async t => {
    const { body } = await create({
      type: 'feed',
      name: 'inner',
      config: { url: 'http://[::1]:1/' },
    })
    const { body: result } = await admin.post(`/admin/sources/${body.id}/test`)
    t.match(result, { success: false, message: /private network/ })
    t.equal((await admin.delete(`/admin/sources/${body.id}`)).status, 204)
  })

  t.test('plugins have an address of their own', async t => {
    const types = (await admin.get('/admin/source-types')).body
    t.ok(types.plugins.includes('example.ts'))
    t.ok(types.types.some(({ type }: { type: string }) => type === 'plugin'))
    const config = { plugin: 'example.ts', timeoutSeconds: 120 }
    const { status, body } = await admin.post('/admin/plugins', { name: 'example', config })
    t.equal(status, 201)
    t.equal(body.name, 'plugin:example')
    const path = `/admin/plugins/${body.id}`
    t.match((await admin.post(`${path}/test`)).body, {
      success: true,
      manifest: { capabilities: ['metadata', 'releases'] },
    })
    const lists = await sql`
      select key, enabled from release_source where source_id = ${body.id} order by key`
    t.same(
      [...lists],
      [
        { key: 'by-series', enabled: false },
        { key: 'new', enabled: false },
      ],
    )
    const { plugins } = (await admin.get('/admin/plugins')).body
    t.same(
      plugins.map(({ id }: { id: string }) => id),
      [body.id],
    )
    t.equal((await admin.get(`/admin/sources/${body.id}`)).status, 200)
    const [feed] = await sql<{ id: string }[]>`select id from source where name = 'books'`
    t.equal((await admin.get(`/admin/plugins/${feed!.id}`)).status, 404, 'a feed is no plugin')
    t.equal((await admin.delete(`/admin/plugins/${feed!.id}`)).status, 404)
    t.equal((await admin.delete(path)).status, 204)
  })
})
