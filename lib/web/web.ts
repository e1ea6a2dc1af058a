// Web application routes: the document at `/` and at the addresses of its views, built files, the web
// app manifest and the service worker.
import { join } from 'node:path'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { Failure, NotFound } from '../base/errors.ts'
import type { Deps } from '../http/deps.ts'
import type { WebPages } from '../http/server.ts'
import { createLastKnown } from '../store/setting/last-known.ts'
import { openSettings } from '../store/setting/setting.ts'
import type { Build } from './build.ts'
import { currentBuild } from './build-cache.ts'
import type { Asset } from './compress.ts'
import { documentHeaders, documentHtml, manifest, openerPolicy } from './document.ts'

const immutable = 'public, max-age=31536000, immutable'

/** Nothing is built before the first request or `prepare()`. */
export function openWeb(deps: Pick<Deps, 'config' | 'log' | 'services'>): WebPages {
  const { config, log, services } = deps
  const folder = join(config.data_dir, 'cache', 'web')
  const onUnstored = (error: unknown) => log.warn({ err: error }, 'web application not stored')
  let building: Promise<Build> | null = null
  const build = async () => {
    building ??= currentBuild({ folder, onUnstored }).catch(error => {
      // The next request retries.
      building = null
      throw error
    })
    return await building
  }
  const setting = createLastKnown(services(openSettings), ['application.name'])
  const name = async () => (await setting('application.name')) ?? 'Stackroom'

  async function sendDocument(request: FastifyRequest, reply: FastifyReply) {
    const { digest, initialModules } = await build()
    const html = documentHtml({ base: request.base, name: await name(), digest, initialModules })
    return reply.headers({ ...documentHeaders, ...openerPolicy(request.base) }).send(html)
  }

  return {
    mount(server) {
      server.get('/', sendDocument)
      server.get('/manifest.webmanifest', async (request, reply) => {
        const { digest } = await build()
        const text = manifest({ base: request.base, name: await name(), digest })
        return reply.type('application/manifest+json').send(text)
      })
      server.get('/service-worker.js', async (request, reply) => {
        const { serviceWorker } = await build()
        return sendAsset(request, reply, serviceWorker, 'no-cache')
      })
      mountAssets(server, build)
    },
    sendDocument,
    async prepare() {
      await build().catch(error => {
        // A signal to the process group, which also ends the server.
        if (endingSignals.has(error.signal)) return
        if (error instanceof Failure) log.error(error.message)
        else log.error({ err: error }, 'the web application cannot be built')
      })
    },
  }
}

const endingSignals = new Set(['SIGTERM', 'SIGINT', 'SIGHUP'])

function mountAssets(server: FastifyInstance, build: () => Promise<Build>) {
  server.get<{ Params: { digest: string; '*': string } }>(
    '/assets/:digest/*',
    async (request, reply) => {
      const { digest, assets } = await build()
      const { digest: requested, '*': path } = request.params
      const asset = requested === digest ? assets.get(path) : undefined
      if (!asset) throw new NotFound('Unknown path')
      return sendAsset(request, reply, asset, immutable)
    },
  )
}

function sendAsset(
  request: FastifyRequest,
  reply: FastifyReply,
  { type, etag, plain, gzip, brotli }: Asset,
  cacheControl: string,
) {
  reply.headers({ 'cache-control': cacheControl, etag, 'x-content-type-options': 'nosniff' })
  if (brotli || gzip) reply.header('vary', 'Accept-Encoding')
  if (request.headers['if-none-match'] === etag) return reply.code(304).send()
  reply.type(type)
  const accepted = new Set(
    (request.headers['accept-encoding'] ?? '')
      .toLowerCase()
      .split(',')
      .map(coding => coding.trim())
      // `br;q=0` refuses a coding.
      .filter(coding => !/;\s*q=0(?:\.0*)?$/.test(coding))
      .map(coding => coding.split(';', 1)[0]),
  )
  if (brotli && accepted.has('br')) return reply.header('content-encoding', 'br').send(brotli)
  if (gzip && accepted.has('gzip')) return reply.header('content-encoding', 'gzip').send(gzip)
  return reply.send(plain)
}
