// The API on a free port, with or without a pipeline behind it, and clients of several roles.
import { join } from 'node:path'
import { openApi } from '../../lib/api/open.ts'
import { createDataFolder } from '../../lib/base/data-folder.ts'
import { type Log, openLog } from '../../lib/base/log.ts'
import type { ReceivePace } from '../../lib/http/listen/listener.ts'
import { type Config, loadConfig } from '../../lib/store/config/config.ts'
import type { Pace } from '../../lib/store/event/feed.ts'
import { connect, type Sql } from '../../lib/store/postgres/db.ts'
import { openQueue, type Queue } from '../../lib/store/queue/queue.ts'
import { insertAccount, type Role } from './accounts.ts'
import { type Catalog, openCatalog } from './catalog.ts'
import { createDatabase, type Scope } from './db.ts'
import { temporaryFolder } from './files/folders.ts'
import { createClient } from './http/client.ts'

export type TestApi = Awaited<ReturnType<typeof startApi>>

type Settings = Record<string, unknown>
type Services = Pick<Catalog, 'sql' | 'url' | 'config'> & {
  queue: Queue
  pace?: Partial<Pace>
  receive?: ReceivePace
}

/** Settings of all test servers: no rate limits, any free port. */
export const apiDefaults = { 'rate_limit.enabled': false, 'application.port': 0 }

/** An empty catalog with a pipeline and the API until the end of `t`. */
export async function startApi(t: Scope, settings: Settings = {}) {
  const catalog = await openCatalog(t, { ...apiDefaults, ...settings })
  return await serveCatalog(t, catalog)
}

/** The API of a catalog that is already open. */
export async function serveCatalog(t: Scope, catalog: Catalog) {
  const api = await listen(t, { ...catalog, queue: catalog.pipeline.queue })
  return { ...catalog, ...api }
}

/** An empty catalog with the API but no pipeline. `pace`: of the event streams; `receive`: of requests. */
export async function startApiWithoutPipeline(
  t: Scope,
  settings: Settings = {},
  pace: Partial<Pace> = {},
  receive?: ReceivePace,
) {
  const { sql, url } = await createDatabase(t)
  const flags = { data_dir: join(temporaryFolder(t), 'data'), ...apiDefaults, ...settings }
  const config = loadConfig({ env: {}, flags })
  const queue = await openQueue(sql, () => {})
  t.teardown(() => queue.close())
  return {
    sql,
    url,
    config,
    queue,
    ...(await listen(t, { sql, url, config, queue, pace, receive })),
  }
}

async function listen(t: Scope, { sql, url, ...services }: Services) {
  const log = openLog({ level: 'error' })
  // As a start does.
  createDataFolder(services.config.data_dir)
  const start = async (ownSql: Sql, overrides: { config?: Config; log?: Log } = {}) => {
    const api = await openApi({ ...services, sql: ownSql, log, ...overrides })
    const base = await api.server.listen({ host: '127.0.0.1', port: 0 })
    let closing: Promise<void> | null = null
    const close = () => (closing ??= api.close())
    t.teardown(close)
    return { base, api, close }
  }
  const { base, api } = await start(sql)
  return {
    base,
    api,
    /** Another server of the same catalog, as in another process, with the same settings by default. */
    async startAnother({ settings, log: ownLog = log }: { settings?: Settings; log?: Log } = {}) {
      const ownSql = connect(url, { max: 4 })
      t.teardown(() => ownSql.end({ timeout: 1 }))
      const flags = { data_dir: services.config.data_dir, ...settings }
      const config = settings ? loadConfig({ env: {}, flags }) : services.config
      return await start(ownSql, { config, log: ownLog })
    },
    /** A client without credentials. */
    anonymous: createClient(base, {}),
    withHeaders: (headers: Record<string, string>) => createClient(base, headers),
    /** Inserts an account of a role; returns it with a client that uses its API key. */
    async createUser(role: Role, options: { permissions?: string[]; username?: string } = {}) {
      const account = await insertAccount(sql, role, options)
      return { ...createClient(base, { 'x-api-key': account.key }), ...account }
    },
  }
}
