// Management of API keys of other accounts, and of keys with more permissions than the caller.
import t from 'tap'
import { permissionNames } from '../../../lib/accounts/permission.ts'
import { hideSeries, insertApiKey } from '../../kit/accounts.ts'
import { startApiWithoutPipeline } from '../../kit/server.ts'

const all = await startApiWithoutPipeline(t)
const { sql } = all

const belowAdmin = permissionNames.filter(name => name !== 'SystemAdmin')
const managers = ['UsersRead', 'UsersWrite', 'UsersDelete']
const actions = {
  GET: ['UsersRead', 200],
  PATCH: ['UsersWrite', 200],
  PUT: ['UsersWrite', 200],
  DELETE: ['UsersDelete', 204],
} as const

t.test('keys can be managed by those who may manage their owner', async t => {
  const callers = {
    reader: await all.createUser('reader'),
    maintainer: await all.createUser('maintainer'),
    manager: await all.createUser('reader', { permissions: managers }),
    strong: await all.createUser('maintainer', { permissions: belowAdmin }),
    restricted: await all.createUser('maintainer', { permissions: belowAdmin }),
    admin: await all.createUser('admin'),
  }
  await hideSeries(sql, callers.restricted.id, [])
  const owners = {
    reader: await all.createUser('reader'),
    maintainer: await all.createUser('maintainer'),
    granted: await all.createUser('reader', { permissions: ['SystemAdmin'] }),
    admin: await all.createUser('admin'),
  }
  const weaker: Record<keyof typeof callers, (keyof typeof owners)[]> = {
    reader: [],
    maintainer: [],
    manager: ['reader'],
    strong: ['reader', 'maintainer'],
    restricted: [],
    admin: ['reader', 'maintainer', 'granted', 'admin'],
  }
  for (const [callerName, caller] of Object.entries(callers))
    for (const [ownerName, owner] of Object.entries(owners))
      for (const [method, [, success]] of Object.entries(actions)) {
        const { id } = await insertApiKey(sql, owner.id)
        const path = `/api-keys/${id}`
        const { status } =
          method === 'GET'
            ? await caller.get(path)
            : method === 'DELETE'
              ? await caller.delete(path)
              : await caller[method === 'PUT' ? 'put' : 'patch'](path, {
                  name: 'x',
                  isActive: false,
                })
        const isAllowed = weaker[callerName as keyof typeof callers].includes(ownerName as never)
        t.equal(status, isAllowed ? success : 403, `${callerName} ${method} ${ownerName}`)
        const [row] = await sql`select is_active as active from api_key where id = ${id}`
        const isUnchanged = !isAllowed || method === 'GET'
        t.equal(row?.active, isUnchanged ? true : method === 'DELETE' ? undefined : false)
      }
})

t.test('each action needs its permission on users', async t => {
  const owner = await all.createUser('reader')
  for (const [method, [required]] of Object.entries(actions)) {
    const permissions = managers.filter(name => name !== required)
    const caller = await all.createUser('reader', { permissions })
    const { id } = await insertApiKey(sql, owner.id)
    const path = `/api-keys/${id}`
    const { status, body } =
      method === 'GET'
        ? await caller.get(path)
        : method === 'DELETE'
          ? await caller.delete(path)
          : await caller[method === 'PUT' ? 'put' : 'patch'](path, { name: 'x' })
    t.equal(status, 403)
    t.match(body.message, required)
  }
})

t.test(
  'only a caller with all permissions of a key makes it valid again, or for longer',
  async t => {
    const owner = await all.createUser('maintainer')
    const own = ['ApiKeysRead', 'ApiKeysWrite', 'BooksRead']
    const keyClient = async (permissions: string[]) => {
      const { key } = await insertApiKey(sql, owner.id, permissions)
      return all.withHeaders({ 'x-api-key': key })
    }
    const weak = await keyClient(['ApiKeysWrite'])
    const same = await keyClient(own)
    const [past, soon, later] = [-60, 3_600, 7_200].map(s =>
      new Date(Date.now() + s * 1000).toISOString(),
    )
    const states = [
      { is_active: false, expires_at: null },
      { is_active: true, expires_at: past! },
      { is_active: false, expires_at: soon! },
      { is_active: true, expires_at: soon! },
      { is_active: true, expires_at: null },
    ]
    const changes = [
      { isActive: true },
      { is_active: true, name: 'x' },
      { isActive: false },
      { expiresAt: null },
      { expires_at: later },
      { expiresAt: new Date(Date.now() + 1_800_000).toISOString() },
      { name: 'y' },
      { isActive: true, expiresAt: null },
      { isActive: true, expiresAt: null, permissions: ['ApiKeysWrite'] },
    ]
    for (const state of states)
      for (const change of changes as Record<string, any>[]) {
        const active = change.isActive ?? change.is_active
        const expiry = 'expiresAt' in change ? change.expiresAt : change.expires_at
        const expiresLater =
          expiry !== undefined &&
          state.expires_at !== null &&
          (expiry === null || expiry > state.expires_at)
        const prolongs = (active === true && !state.is_active) || expiresLater
        for (const [name, caller] of Object.entries({ weak, same })) {
          const { id } = await insertApiKey(sql, owner.id, own)
          await sql`update api_key set ${sql(state)} where id = ${id}`
          const { status } = await caller.patch(`/api-keys/${id}`, change)
          const isRefused = name === 'weak' && prolongs && !change.permissions
          t.equal(status, isRefused ? 403 : 200, `${name} ${JSON.stringify([state, change])}`)
          await sql`delete from api_key where id = ${id}`
        }
      }
  },
)
