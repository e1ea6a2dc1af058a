// Writes of the Komga-compatible API by administrators: users, libraries, settings of clients.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'tap'
import { temporaryFolder } from '../../../kit/files/folders.ts'
import { enableKomga } from '../../../kit/komga.ts'
import { differences } from '../../../kit/komga-schemas.ts'
import { startApiWithoutPipeline } from '../../../kit/server.ts'

test('writes of administrators', async t => {
  const all = await startApiWithoutPipeline(t)
  const admin = await all.createUser('admin')
  const reader = await all.createUser('reader')
  await enableKomga(admin)
  const as =
    (headers: Record<string, string>) => async (method: string, path: string, body?: unknown) => {
      const response = await fetch(`${all.base}/komga/api${path}`, {
        method,
        headers: {
          ...headers,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
      const text = await response.text()
      return { status: response.status, json: text === '' ? null : JSON.parse(text) }
    }
  const asAdmin = as({ 'x-api-key': admin.key })
  const asReader = as({ 'x-api-key': reader.key })
  const asNone = as({})
  const basic = (name: string, password: string) =>
    as({ authorization: `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}` })
  const folder = temporaryFolder(t)
  for (const name of ['one', 'two']) mkdirSync(join(folder, name))
  const unknown = '00000000-0000-7000-8000-00000000dead'
  const library = { name: 'Comics', root: join(folder, 'one'), scanInterval: 'DAILY' }
  let libraryId = ''

  await t.test('libraries', async t => {
    t.equal((await asReader('POST', '/v1/libraries', library)).status, 403)
    const created = await asAdmin('POST', '/v1/libraries', { ...library, scanCbx: true })
    t.equal(created.status, 200)
    t.same(differences('LibraryDto', created.json), [])
    t.match(created.json, library)
    libraryId = created.json.id
    for (const body of [library, { ...library, name: 'Inside', root: join(folder, 'no folder') }]) {
      const { status, json } = await asAdmin('POST', '/v1/libraries', body)
      t.ok([400, 404, 409].includes(status), JSON.stringify(json))
    }
    const change = { name: 'Renamed', scanInterval: 'WEEKLY', emptyTrashAfterScan: true }
    const path = `/v1/libraries/${libraryId}`
    t.equal((await asReader('PATCH', path, change)).status, 403)
    t.equal((await asAdmin('PATCH', path, change)).status, 204)
    t.equal((await asAdmin('PUT', path, { scanDirectoryExclusions: ['@eaDir'] })).status, 204)
    t.equal((await asAdmin('PATCH', path, { name: null })).status, 400)
    t.match((await asAdmin('GET', path)).json, {
      ...{ ...change, root: library.root, scanDirectoryExclusions: ['@eaDir'] },
    })
  })

  await t.test('users', async t => {
    const body = {
      ...{ email: 'kid@example.org', password: 'correct horse', roles: ['PAGE_STREAMING'] },
      ...{ labelsAllow: ['kids'], labelsExclude: ['gore'] },
      ageRestriction: { age: 10, restriction: 'ALLOW_ONLY' },
      sharedLibraries: { all: false, libraryIds: [libraryId] },
    }
    t.equal((await asReader('POST', '/v2/users', body)).status, 403)
    const created = await asAdmin('POST', '/v2/users', body)
    t.equal(created.status, 201)
    t.same(differences('UserDto', created.json), [])
    const { password, roles, sharedLibraries, ...restrictions } = body
    t.match(created.json, {
      ...restrictions,
      ...{ sharedAllLibraries: false, sharedLibrariesIds: [libraryId] },
    })
    t.ok([400, 409].includes((await asAdmin('POST', '/v2/users', body)).status), 'the same address')
    const path = `/v2/users/${created.json.id}`
    const kid = basic(body.email, password)
    t.equal((await kid('GET', '/v2/users/me')).status, 200)
    t.equal((await kid('GET', `/v1/libraries/${libraryId}`)).status, 200)
    const change = {
      ...{ labelsAllow: [], labelsExclude: ['horror'], roles: ['ADMIN'] },
      ageRestriction: { age: 18, restriction: 'EXCLUDE' },
      sharedLibraries: { all: false, libraryIds: [] },
    }
    t.equal((await asReader('PATCH', path, change)).status, 403)
    t.equal((await kid('PATCH', path, { roles: ['ADMIN'] })).status, 403)
    t.equal((await asAdmin('PATCH', path, { ...change, roles: [] })).status, 204)
    t.match((await kid('GET', '/v2/users/me')).json, {
      ...{ labelsAllow: [], labelsExclude: ['horror'], sharedLibrariesIds: [] },
      ageRestriction: { age: 18, restriction: 'EXCLUDE' },
    })
    t.equal((await kid('GET', `/v1/libraries/${libraryId}`)).status, 404)
    t.equal((await asAdmin('PATCH', path, { ageRestriction: null })).status, 204)
    t.match((await kid('GET', '/v2/users/me')).json, { labelsExclude: ['horror'] })
    const other = { password: 'another horse' }
    t.equal((await asReader('PATCH', `${path}/password`, other)).status, 403)
    t.equal((await asAdmin('PATCH', `${path}/password`, other)).status, 204)
    t.equal((await kid('GET', '/v2/users/me')).status, 401)
    const again = basic(body.email, other.password)
    t.equal((await again('PATCH', '/v2/users/me/password', body)).status, 204)
    t.equal((await kid('GET', '/v2/users/me')).status, 200)
    t.equal((await asAdmin('DELETE', `/v2/users/${admin.id}`)).status, 400, 'not the own account')
    t.equal((await asReader('DELETE', path)).status, 403)
    t.equal((await asAdmin('DELETE', path)).status, 204)
    t.equal((await kid('GET', '/v2/users/me')).status, 401)
    for (const method of ['PATCH', 'DELETE'])
      t.equal((await asAdmin(method, `/v2/users/${unknown}`)).status, 404, method)
  })

  await t.test('settings of clients', async t => {
    const list = '/v1/client-settings/global/list'
    const settings = {
      'app.public': { value: 'a', allowUnauthorized: true },
      'app.internal': { value: 'b', allowUnauthorized: false },
    }
    t.equal((await asReader('PATCH', '/v1/client-settings/global', settings)).status, 403)
    t.equal((await asAdmin('PATCH', '/v1/client-settings/global', settings)).status, 204)
    t.same((await asReader('GET', list)).json, settings)
    t.same((await asNone('GET', list)).json, { 'app.public': settings['app.public'] })
    const changed = { 'app.internal': { value: 'c', allowUnauthorized: true } }
    t.equal((await asAdmin('PATCH', '/v1/client-settings/global', changed)).status, 204)
    t.same((await asNone('GET', list)).json, { ...settings, ...changed })
    t.equal((await asReader('DELETE', '/v1/client-settings/global', ['app.public'])).status, 403)
    t.equal((await asAdmin('DELETE', '/v1/client-settings/global', ['app.public'])).status, 204)
    t.same((await asReader('GET', list)).json, changed)
    const own = { 'app.theme': { value: 'dark' } }
    t.equal((await asReader('PATCH', '/v1/client-settings/user', own)).status, 204)
    t.same((await asReader('GET', '/v1/client-settings/user/list')).json, own)
    t.same((await asAdmin('GET', '/v1/client-settings/user/list')).json, {}, 'of the caller')
    t.equal((await asAdmin('DELETE', '/v1/client-settings/user', ['app.theme'])).status, 204)
    t.same((await asReader('GET', '/v1/client-settings/user/list')).json, own)
    t.equal((await asReader('DELETE', '/v1/client-settings/user', ['app.theme'])).status, 204)
    t.same((await asReader('GET', '/v1/client-settings/user/list')).json, {})
  })

  await t.test('libraries are deleted, their folders are not', async t => {
    t.equal((await asReader('DELETE', `/v1/libraries/${libraryId}`)).status, 403)
    t.equal((await asAdmin('DELETE', `/v1/libraries/${libraryId}`)).status, 204)
    t.equal((await asAdmin('GET', `/v1/libraries/${libraryId}`)).status, 404)
    t.equal((await asAdmin('POST', '/v1/libraries', library)).status, 200, 'once more')
  })
})
