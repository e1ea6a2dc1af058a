// Node.js HTTP servers with limits on receiving requests: time, connections, malformed requests.
import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import { cannotListen, parseBindAddress } from '../../store/config/bind-address.ts'
import type { Deps } from '../deps.ts'
import { openRateLimiter } from '../limits/rate-limit.ts'
import { limitMalformedRequests } from './malformed.ts'

/** Limits for receiving a request; long enough for a cover on a slow link. Responses may take any time. */
const receivePace = { requestTimeoutMs: 5 * 60_000, checkIntervalMs: 30_000 }
/** How long a request may take to arrive, and how often this is checked. */
export type ReceivePace = typeof receivePace
// Far more than clients need, but below the file descriptor limit of a process.
const maxConnections = 4096
const keepAliveMs = 72_000

/** A server that does not listen yet. */
export function createHttpServer(
  handle: RequestListener,
  { requestTimeoutMs, checkIntervalMs }: ReceivePace = receivePace,
): Server {
  const server = createServer(
    {
      requestTimeout: requestTimeoutMs,
      // Requests are not interrupted before the time for their headers is up.
      headersTimeout: Math.min(60_000, requestTimeoutMs),
      connectionsCheckingInterval: checkIntervalMs,
      keepAliveTimeout: keepAliveMs,
      // Node.js would respond without a body and headers; `hostFault` handles this instead.
      requireHostHeader: false,
    },
    handle,
  )
  server.maxConnections = maxConnections
  return server
}

type LimiterDeps = Pick<Deps, 'sql' | 'config' | 'log'>

/** Listens on the `host:port` of a configuration key. Throws Invalid when that is not available. */
export async function listenOn(
  bind: string,
  { key, handle, deps }: { key: string; handle: RequestListener; deps: LimiterDeps },
): Promise<{ server: Server; port: number }> {
  const server = createHttpServer(handle)
  const limiter = openRateLimiter(deps)
  server.on('clientError', limitMalformedRequests(limiter))
  server.on('close', limiter.close)
  server.listen(parseBindAddress(bind, key))
  try {
    await once(server, 'listening')
  } catch (error) {
    limiter.close()
    throw cannotListen(bind, key, error)
  }
  return { server, port: (server.address() as { port: number }).port }
}
