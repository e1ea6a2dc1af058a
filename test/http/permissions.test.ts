// Permissions of all requests: the table permissions.tsv against the routes, and against what the server allows to
// callers without credentials, to API keys that lack a permission, and to keys that have exactly what is needed.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'tap'
import { type Permission, permissionNames } from '../../lib/accounts/permission.ts'
import { komgaResources } from '../../lib/api/komga.ts'
import { resources } from '../../lib/api/resources.ts'
import { endpoints, type Route } from '../../lib/http/route.ts'
import { insertApiKey } from '../kit/accounts.ts'
import { enableKomga } from '../kit/komga.ts'
import { startApiWithoutPipeline } from '../kit/server.ts'
import { oneIn } from '../kit/suite/sample.ts'

type Row = { method: string; path: string; access: string }

const table = readFileSync(join(import.meta.dirname, 'permissions.tsv'), 'utf8')
const written = table.split('\n').filter(line => line !== '' && !line.startsWith('#'))
const own: Row[] = written.map(line => {
  const [method, path, access] = line.split('\t') as [string, string, string]
  return { method, path, access }
})
/** The catalogs and KOReader sync answer below the prefix of the compatible API, too. */
const isMountedTwice = ({ path }: Row) =>
  /^\/(opds|koreader)\/|^\/(healthcheck|users\/|syncs\/)/.test(path)
const mounted = own
  .filter(isMountedTwice)
  .map((row): Row => ({ ...row, path: `/komga${row.path}` }))
const rows = [...own, ...mounted]
const unknownId = '00000000-0000-7000-8000-00000000dead'

/** Sets of permissions of which a caller must have at least one each. */
function needs({ access }: Row): Permission[][] {
  if (access === 'public' || access === 'account') return []
  if (access === 'own') return [['ProgressWrite']]
  const sets = access.split(' & ').map(part => part.replace(/[()]/g, '').split(' | '))
  return sets as Permission[][]
}

test('the table has a row for each route, and no other', async t => {
  const endpointsOf = (routes: readonly Route[], prefix = '') =>
    routes.flatMap(endpoints).flatMap(({ method, path, whenFull }) =>
      // Another name of the same, chosen by the query.
      whenFull ? [] : [`${method} ${prefix}${path}`],
    )
  const routes = [...endpointsOf(resources), ...endpointsOf(komgaResources, '/komga')]
  const names = rows.map(({ method, path }) => `${method} ${path}`)
  t.same(routes.filter(name => !names.includes(name)).sort(), [], 'routes without a row')
  t.same(names.filter(name => !routes.includes(name)).sort(), [], 'rows without a route')
  t.equal(new Set(names).size, names.length, 'each once')
})

test('all permissions of the table exist, and all that exist are needed', async t => {
  const named = new Set(rows.flatMap(needs).flat())
  t.same(
    [...named].filter(name => !permissionNames.includes(name)),
    [],
  )
  t.same(
    permissionNames.filter(name => !named.has(name)),
    [],
  )
})

test('what changes something needs more than permissions to read', async t => {
  /** Lists with a condition or a text in their body, and previews. */
  const onlyReads = (path: string) =>
    /\/(list|search)(\/|$)|\/(templates|auto-match)\/preview$/.test(path)
  const isReading = (name: Permission) => /(Read|Health)$/.test(name)
  const open = rows.filter(
    row =>
      row.method !== 'GET' &&
      row.access !== 'public' &&
      !onlyReads(row.path) &&
      needs(row).every(set => set.some(isReading)),
  )
  t.same(open, [])
})

test('the server allows what the table allows', async t => {
  const api = await startApiWithoutPipeline(t)
  const admin = await api.createUser('admin')
  await enableKomga(admin)
  const keys = new Map<string, Promise<{ key: string }>>()
  const keyWith = async (permissions: readonly Permission[]) => {
    const name = permissions.join()
    if (!keys.has(name)) keys.set(name, insertApiKey(api.sql, admin.id, permissions))
    return { 'x-api-key': (await keys.get(name)!).key }
  }
  const send = async ({ method, path, access }: Row, headers: Record<string, string>) => {
    // What every account reads of itself.
    const id = access === 'account' ? admin.id : unknownId
    const response = await fetch(api.base + path.replace(/\{\w+\}|\{\*\}/g, id), {
      method,
      redirect: 'manual',
      headers: { 'content-type': 'application/json', ...headers },
      // No request has this type, so that a permitted one writes nothing.
      ...(method === 'GET' ? {} : { body: '[]' }),
    })
    const isStream = response.headers.get('content-type')?.startsWith('text/event-stream')
    if (isStream) await response.body!.cancel()
    return { status: response.status, text: isStream ? '' : await response.text() }
  }
  // The same routes below both prefixes.
  for (const row of [...own, ...mounted.filter(oneIn(5))]) {
    const name = `${row.method} ${row.path}`
    const anonymous = await send(row, {})
    if (row.access === 'public') t.not(anonymous.status, 401, `${name} is public`)
    else t.equal(anonymous.status, 401, `${name} without credentials`)
    for (const lacking of needs(row)) {
      // An administrator has every permission.
      const without = [...lacking, 'SystemAdmin']
      const others = permissionNames.filter(permission => !without.includes(permission))
      const { status } = await send(row, await keyWith(others))
      t.equal(status, 403, `${name} without ${lacking.join(' and ')}`)
    }
    for (const sufficient of combinations(needs(row))) {
      const { status, text } = await send(row, await keyWith(sufficient))
      const isMissing = status === 401 || (status === 403 && text.includes('Missing required'))
      t.notOk(isMissing, `${name} with ${sufficient.join(' and ') || 'any account'}: ${text}`)
    }
  }
})

/** One of each set, in all ways. */
function combinations(sets: readonly (readonly Permission[])[]): Permission[][] {
  const [first, ...others] = sets
  if (first === undefined) return [[]]
  return first.flatMap(name => combinations(others).map(rest => [name, ...rest]))
}
