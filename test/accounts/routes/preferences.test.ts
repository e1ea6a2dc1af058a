// User preferences over HTTP.
import { test } from 'tap'
import { startApi } from '../../kit/server.ts'

test('preferences', async t => {
  const all = await startApi(t)

  await t.test('a preference is stored until it is deleted', async t => {
    const reader = await all.createUser('reader')
    t.same((await reader.get('/user/preferences')).body, { preferences: [] })
    t.equal((await reader.get('/user/preferences/ui.theme')).status, 404)
    const set = await reader.put('/user/preferences/ui.theme', { value: 'dark' })
    t.match(set, { status: 200, body: { key: 'ui.theme', value: 'dark', valueType: 'string' } })
    t.same((await reader.get('/user/preferences/ui.theme')).body, set.body)
    t.same((await reader.get('/user/preferences')).body.preferences, [set.body])
    t.match(await reader.delete('/user/preferences/ui.theme'), {
      status: 200,
      body: { deleted: true },
    })
    t.match(await reader.delete('/user/preferences/ui.theme'), {
      status: 200,
      body: { deleted: false },
    })
    t.equal((await reader.get('/user/preferences/ui.theme')).status, 404)
  })

  await t.test('JSON values are returned unchanged', async t => {
    const reader = await all.createUser('reader')
    for (const [value, valueType] of [
      ['', 'string'],
      ['null', 'string'],
      ['a\\u0000b', 'string'],
      ['𝄞', 'string'],
      [24, 'integer'],
      [1.5, 'float'],
      [false, 'boolean'],
      [null, 'json'],
      [[1, { page_size: 1, pageSize: 2 }], 'json'],
      [{ current_page: null }, 'json'],
    ] as const) {
      const { body } = await reader.put('/user/preferences/a.b', { value })
      t.same([body.value, body.valueType], [value, valueType])
      t.same((await reader.get('/user/preferences/a.b')).body.value, value)
    }
  })

  await t.test('several preferences are set atomically', async t => {
    const reader = await all.createUser('reader')
    const many = await reader.put('/user/preferences', {
      preferences: { 'ui.theme': 'light', 'library.default_page_size': 24 },
    })
    t.match(many.body, { updated: 2, preferences: [{ value: 24 }, { value: 'light' }] })
    const bad = await reader.put('/user/preferences', {
      preferences: { 'ui.theme': 'x', 'no key': 1 },
    })
    t.equal(bad.status, 400)
    t.equal((await reader.get('/user/preferences/ui.theme')).body.value, 'light')
    t.same((await reader.put('/user/preferences', { preferences: {} })).body.updated, 0)
  })

  await t.test('invalid keys, large values and unstorable text are rejected', async t => {
    const reader = await all.createUser('reader')
    for (const key of ['a..b', '.a', 'a.', 'a-b', 'ä', '%00', 'a'.repeat(256)])
      t.equal((await reader.put(`/user/preferences/${key}`, { value: 1 })).status, 400, key)
    t.equal((await reader.put(`/user/preferences/${'a'.repeat(255)}`, { value: 1 })).status, 200)
    t.equal((await reader.put('/user/preferences/a', {})).status, 400)
    t.equal((await reader.put('/user/preferences/a', { value: 'x'.repeat(70_000) })).status, 413)
    for (const raw of [
      '{"value":"\\ud800"}',
      '{"value":"\\u0000"}',
      `{"value":${'['.repeat(3000)}${']'.repeat(3000)}}`,
    ]) {
      const headers = { 'content-type': 'application/json' }
      t.equal((await reader.request('PUT', '/user/preferences/a', { raw, headers })).status, 400)
    }
    const long = { preferences: { ['a'.repeat(256)]: 1 } }
    t.equal((await reader.put('/user/preferences', long)).status, 400)
    const many = Object.fromEntries(Array.from({ length: 1_000 }, (_, i) => [`k${i}`, i]))
    t.equal((await reader.put('/user/preferences', { preferences: many })).status, 400)
    t.equal((await reader.get('/user/preferences')).body.preferences.length, 1)
  })

  await t.test('preferences are separate per user', async t => {
    const [ana, ben] = [await all.createUser('reader'), await all.createUser('reader')]
    await ana.put('/user/preferences/ui.theme', { value: 'dark' })
    t.equal((await ben.get('/user/preferences/ui.theme')).status, 404)
    t.equal((await all.anonymous.get('/user/preferences')).status, 401)
  })
})

test('the preference that the server reads is true or false', async t => {
  const all = await startApi(t)
  const ana = await all.createUser('reader')
  for (const value of ['true', 1, 0, null, {}, [true], ''])
    for (const request of [
      ana.put('/user/preferences/opds.stream_progress', { value }),
      ana.put('/user/preferences', { preferences: { 'opds.stream_progress': value } }),
    ])
      t.equal((await request).status, 400, JSON.stringify(value))
  for (const value of [true, false])
    t.equal((await ana.put('/user/preferences/opds.stream_progress', { value })).status, 200)
})
