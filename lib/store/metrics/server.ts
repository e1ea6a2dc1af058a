// Separate server for metrics and health checks without authentication, for a private network.
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { Sql } from 'postgres'
import type { Log } from '../../base/log.ts'
import { version } from '../../base/version.ts'
import { cannotListen, parseBindAddress } from '../config/bind-address.ts'
import { type Health, type Readiness, starting } from '../readiness.ts'
import { createServices, type Services } from '../services.ts'
import type { SpaceGuard } from '../space-guard.ts'
import { startProcessMetrics } from './process.ts'
import { negotiateTextFormat } from './registry.ts'
import { renderMetrics } from './scrape.ts'

type Options = {
  sql: Sql
  log: Log
  dataDir: string
  space?: SpaceGuard
  /** `check` is null until the process has finished starting. */
  readiness?: { check: (() => Promise<Readiness>) | null }
}

type Deps = Options & { services: Services }

const alive: Health = { status: 'ok', version, message: null }

/** Listens on `host:port` (an IPv6 address in brackets). Throws Invalid when the address is not available. */
export async function openMetricsServer(bind: string, options: Options) {
  startProcessMetrics()
  const deps = { ...options, services: createServices(options.sql) }
  const { host, port } = parseBindAddress(bind, 'metrics.bind')
  const server = createServer((request, response) => {
    handle(request, response, deps).catch(error => {
      deps.log.error({ err: error }, 'metrics request failed')
      if (response.headersSent) response.destroy()
      else send(response, 500, 'Internal error; see the server log\n')
    })
  })
  server.requestTimeout = 10_000
  server.listen({ host, port })
  try {
    await once(server, 'listening')
  } catch (error) {
    throw cannotListen(bind, 'metrics.bind', error)
  }
  const bound = server.address() as { port: number }
  deps.log.info({ host, port: bound.port }, 'metrics server listening')
  return {
    port: bound.port,
    async close() {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}

async function handle(request: IncomingMessage, response: ServerResponse, deps: Deps) {
  const path = (request.url ?? '').split('?')[0]
  if (request.method !== 'GET' && request.method !== 'HEAD')
    return send(response, 405, 'Method not allowed\n', { allow: 'GET, HEAD' })
  const check = deps.readiness?.check
  if (path === '/health/live') return sendHealth(response, { isReady: true, health: alive })
  if (path === '/health/startup')
    return sendHealth(response, check ? { isReady: true, health: alive } : starting)
  if (path === '/health/ready') return sendHealth(response, check ? await check() : starting)
  if (path !== '/metrics') return send(response, 404, 'Not found; metrics are at /metrics\n')
  const { text, type } = await renderMetrics(
    deps,
    negotiateTextFormat(request.headers.accept) ?? 'text',
  )
  send(response, 200, text, { 'content-type': type })
}

function sendHealth(response: ServerResponse, { isReady, health }: Readiness) {
  send(response, isReady ? 200 : 503, JSON.stringify(health), {
    'content-type': 'application/json; charset=utf-8',
    ...(isReady ? {} : { 'retry-after': '3' }),
  })
}

function send(
  response: ServerResponse,
  status: number,
  text: string,
  headers: Record<string, string> = {},
) {
  response.writeHead(status, {
    'content-type': 'text/plain; charset=utf-8',
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    'content-length': Buffer.byteLength(text),
    ...headers,
  })
  response.end(response.req.method === 'HEAD' ? undefined : text)
}
