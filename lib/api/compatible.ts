// Mounts the Komga-compatible API under the prefix from the settings, and at the root of its own listener. It is
// loaded with the first request after it was enabled; while it is disabled, its paths are unknown.
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { FastifyInstance } from 'fastify'
import type { Deps } from '../http/deps.ts'
import type { ListGate } from '../http/limits/list-gate.ts'
import { listenOn } from '../http/listen/listener.ts'
import { serveMounted } from '../http/listen/mount.ts'
import { createLastKnown } from '../store/setting/last-known.ts'
import { openSettings } from '../store/setting/setting.ts'

/** Throws Invalid when the address of `komga.bind` is not available. */
export async function openCompatibleApi(deps: Deps & { lists: ListGate }) {
  const { log, config, services } = deps
  const setting = createLastKnown(services(openSettings), ['komga.enabled', 'komga.prefix'])
  let loading: Promise<FastifyInstance> | null = null
  const load = async () => {
    loading ??= import('./komga.ts')
      .then(({ openKomga }) => openKomga(deps))
      .catch(error => {
        // Lets the next request try again.
        loading = null
        throw error
      })
    return await loading
  }

  /** Serves the request if the API is enabled and uses the prefix; null stands for the root. */
  async function serve(prefix: string | null, request: IncomingMessage, response: ServerResponse) {
    try {
      if (!(await setting('komga.enabled'))) return false
      if (prefix !== null && prefix !== (await setting('komga.prefix'))) return false
      const server = await load()
      if (prefix === null) server.routing(request, response)
      else serveMounted(server, `/${prefix}`, request, response)
    } catch (error) {
      log.error({ err: error }, 'the compatible API could not be loaded')
      respondPlainly(response, 500, 'Internal error; see the server log')
    }
    return true
  }

  const { bind } = config.komga
  const own =
    bind === null ? null : await listenOn(bind, { key: 'komga.bind', handle: serveRoot, deps })
  if (own) log.info({ port: own.port }, 'compatible API listening')
  async function serveRoot(request: IncomingMessage, response: ServerResponse) {
    if (!(await serve(null, request, response)))
      respondPlainly(response, 404, 'The API at this address is disabled')
  }

  return {
    /** Its own server, if there is one. */
    listener: own?.server ?? null,
    port: own?.port ?? null,
    passOn: serve,
    close: async () => (await loading)?.close(),
  }
}

function respondPlainly(response: ServerResponse, status: number, message: string) {
  const text = JSON.stringify({ status, message })
  response.writeHead(status, {
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(text),
    'cache-control': 'no-store',
  })
  response.end(response.req.method === 'HEAD' ? undefined : text)
}
