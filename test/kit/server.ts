// The API on a port of its own, with a pipeline and libraries behind it, and clients of several roles.
import { join } from 'node:path'
import type { Test } from 'tap'
import { openApi } from '../../lib/api/open.ts'
import { resources } from '../../lib/api/resources.ts'
import { newKey } from '../../lib/auth/api-key.ts'
import { permissionsOfRole } from '../../lib/auth/permission.ts'
import { type Config, loadConfig } from '../../lib/config/config.ts'
import type { Pace } from '../../lib/event/feed.ts'
import { openapiDocument } from '../../lib/http/openapi.ts'
import { newId } from '../../lib/id.ts'
import { type Log, openLog } from '../../lib/log.ts'
import { connect, type Sql } from '../../lib/postgres/db.ts'
import { openQueue, type Queue } from '../../lib/queue/queue.ts'
import { bodyOf } from './body.ts'
import { conformance } from './conform.ts'
import { database } from './db.ts'
import { type Catalogue, catalogue, temporary } from './library.ts'
import { operationsOf } from './operation.ts'

export type Served = Awaited<ReturnType<typeof serve>>
export type Client = Served['anyone']
export type Answered<T = any> = {
  status: number
  headers: Headers
  body: T
  /** Bytes of answers that are no JSON. */
  bytes: Buffer
}

type Settings = Record<string, unknown>
type Asking = { body?: unknown; headers?: Record<string, string>; raw?: Buffer | FormData | string }
type Role = 'reader' | 'maintainer' | 'admin'

const usual = { 'rate_limit.enabled': false, 'application.port': 0 }

/** Rate limits are off unless `settings` says otherwise. */
export async function serve(t: Test, settings: Record<string, unknown> = {}) {
  const all = await catalogue(t, { ...usual, ...settings })
  return { ...all, ...(await serveOn(t, { ...all, queue: all.pipeline.queue })) }
}

/** The same without a pipeline. `pace` is that of the streams. */
export async function serveAlone(
  t: Test,
  settings: Record<string, unknown> = {},
  pace: Partial<Pace> = {},
) {
  const { sql, url } = await database(t)
  const flags = { data_dir: join(temporary(t), 'data'), ...usual, ...settings }
  const config = loadConfig({ env: {}, flags })
  const queue = await openQueue(sql, () => {})
  t.teardown(() => queue.close())
  return { sql, url, config, queue, ...(await serveOn(t, { sql, url, config, queue, pace })) }
}

type On = Pick<Catalogue, 'sql' | 'url' | 'config'> & { queue: Queue; pace?: Partial<Pace> }

async function serveOn(t: Test, { sql, url, ...on }: On) {
  const log = openLog({ level: 'error' })
  const open = async (own: Sql, more: { config?: Config; log?: Log } = {}) => {
    const api = await openApi({ ...on, sql: own, log, ...more })
    const base = await api.server.listen({ host: '127.0.0.1', port: 0 })
    let closing: Promise<void> | null = null
    const close = () => (closing ??= api.close())
    t.teardown(close)
    return { base, api, close }
  }
  const { base, api } = await open(sql)
  return {
    base,
    api,
    /** The API once more, as another process would serve the same catalogue; perhaps with settings of its own. */
    async another({ settings, log: ownLog = log }: { settings?: Settings; log?: Log } = {}) {
      const own = connect(url, { max: 4 })
      t.teardown(() => own.end({ timeout: 1 }))
      const flags = { data_dir: on.config.data_dir, ...settings }
      const config = settings ? loadConfig({ env: {}, flags }) : on.config
      return await open(own, { config, log: ownLog })
    },
    anyone: clientOf(base, {}),
    /** A client that sends these headers. */
    with: (headers: Record<string, string>) => clientOf(base, headers),
    /** An account of a role with an API key, made in the database; its client, id and key. */
    async as(role: Role, more: { permissions?: string[]; username?: string } = {}) {
      const account = await newAccount({ sql }, role, more)
      return { ...clientOf(base, { 'x-api-key': account.key }), ...account }
    },
  }
}

let made = 0

/** An account of a role with an API key, straight into the database. */
export async function newAccount(
  { sql }: Pick<Catalogue, 'sql'>,
  role: Role,
  {
    permissions = [],
    username = `${role}-${(made += 1)}`,
  }: { permissions?: string[]; username?: string } = {},
) {
  const id = newId()
  await sql`
    insert into account (id, username, email, password_hash, role, permissions)
    values (${id}, ${username}, ${`${username}@example.org`}, '-', ${role}, ${permissions})`
  const { key, prefix, digest } = newKey()
  await sql`
    insert into api_key (id, account_id, name, prefix, secret_sha256, permissions)
    values (${newId()}, ${id}, 'test', ${prefix}, ${digest}, ${[...permissionsOfRole.admin]})`
  return { id, key, username, email: `${username}@example.org` }
}

const document = openapiDocument(resources, '1') as any
const conform = conformance(document)
const operations = operationsOf(document).map(operation => ({
  operation,
  // Fixed words come before parameters, as in the router.
  variables: operation.path.split('{').length,
  pattern: new RegExp(
    `^${operation.path.replace(/\{(\w+)\}/g, (_, name) => (name === 'path' ? '.+' : '[^/]+'))}$`,
  ),
}))
operations.sort((a, b) => a.variables - b.variables)

/** Every answer of the API is held against the document, whatever the test is about. */
function promised(
  method: string,
  url: string,
  { status, type, bytes }: { status: number; type: string; bytes: Buffer },
) {
  const path = url.split('?')[0]!
  const found = operations.find(o => o.operation.method === method && o.pattern.test(path))
  if (!found || status === 404 || status === 429) return
  const text = type.includes('json') ? bytes.toString() : bytes.toString('latin1')
  const wrong = conform(found.operation, { status, type, text })
  if (wrong) throw new Error(`${method} ${url}: ${wrong}`)
}

function clientOf(base: string, headers: Record<string, string>) {
  const ask = async <T = any>(
    method: string,
    path: string,
    asking: Asking = {},
  ): Promise<Answered<T>> => {
    const url = path.startsWith('/opds') || path.startsWith('/health') ? path : `/api/v1${path}`
    const hasBody = asking.body !== undefined
    const response = await fetch(base + url, {
      method,
      redirect: 'manual',
      headers: {
        ...headers,
        ...(hasBody ? { 'content-type': 'application/json' } : {}),
        ...asking.headers,
      },
      ...(hasBody
        ? { body: JSON.stringify(asking.body) }
        : asking.raw
          ? { body: asking.raw as never }
          : {}),
    })
    const bytes = await bodyOf(response)
    promised(method, url, {
      status: response.status,
      type: response.headers.get('content-type') ?? '',
      bytes,
    })
    const isJson = (response.headers.get('content-type') ?? '').includes('json')
    const body = isJson && bytes.length > 0 ? JSON.parse(bytes.toString()) : null
    return { status: response.status, headers: response.headers, body, bytes }
  }
  return {
    ask,
    get: <T = any>(path: string, asking?: Asking) => ask<T>('GET', path, asking),
    post: <T = any>(path: string, body?: unknown, asking?: Asking) =>
      ask<T>('POST', path, { ...asking, body }),
    put: <T = any>(path: string, body?: unknown, asking?: Asking) =>
      ask<T>('PUT', path, { ...asking, body }),
    patch: <T = any>(path: string, body?: unknown, asking?: Asking) =>
      ask<T>('PATCH', path, { ...asking, body }),
    delete: <T = any>(path: string, asking?: Asking) => ask<T>('DELETE', path, asking),
  }
}
