// Public base URL of a request (from configuration, trusted proxy headers, Host) and the URL to route.
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { Invalid } from '../../base/errors.ts'
import { memoizeLast } from '../../base/lazy.ts'
import type { Config } from '../../store/config/config.ts'
import { mountPrefixOf } from '../listen/mount.ts'
import type { Protocol } from '../protocol.ts'
import {
  createTrustProxy,
  type ForwardedHeaders,
  isHost,
  parseForwarded,
  type TrustProxy,
} from './forwarded.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Absolute URL of the server for this client, with its base path and without a trailing slash. */
    readonly base: string
    /** The path as the client sent it, below the base path. */
    readonly sentPath: string
  }
}

type AddressOptions = { isMounted?: boolean; protocols?: readonly Protocol[] }

/**
 * Reads the configuration on each request, except for the trusted proxies. `isMounted`: the server is mounted
 * in another one under a prefix, or has its own listener. Throws Invalid.
 */
export function createAddressResolver(
  config: Config,
  { isMounted = false, protocols = [] }: AddressOptions = {},
) {
  const isTrusted = createTrustProxy(config.application.trusted_proxies)
  const withoutPrefix = withoutPrefixes(protocols)
  // The public URL does not apply to a listener besides the main one.
  const outerBase = (request: IncomingMessage) =>
    (isMounted && mountPrefixOf(request) === null ? null : configuredBase(config.application)) ??
    requestBase(request, isTrusted)
  const baseOf = (request: IncomingMessage) => outerBase(request) + (mountPrefixOf(request) ?? '')
  const localPath = (request: IncomingMessage, url: string) => {
    const base = routedBasePath(outerBase(request))
    const path = withoutPrefix(normalizeEncoding(pathOf(url)), base)
    // Users enter server addresses with a trailing slash.
    return isMounted ? path.slice(mountPrefixOf(request)?.length ?? 0).replace(/^\/*/, '/') : path
  }
  return {
    isTrusted,
    /** The first segment of the path; empty for the root. */
    firstSegment: (request: IncomingMessage) =>
      localPath(request, request.url ?? '/').split('/', 2)[1] ?? '',
    /** The URL for the router: without the base path and in canonical spelling. */
    routedUrl(request: IncomingMessage): string {
      const url = request.url ?? '/'
      const own = localPath(request, url)
      if (own.startsWith('/api/')) return own + queryOf(url)
      const path = protocols.reduce(
        (path, { rewrite }) => rewrite?.(path, request.headers, config) ?? path,
        own,
      )
      return path + queryOf(url)
    },
    /** Defines `request.base` and `request.sentPath`; must be called before routes are mounted. */
    decorate(server: FastifyInstance) {
      const base = { getter: (request: FastifyRequest) => baseOf(request.raw) }
      const sentPath = {
        getter: ({ raw, originalUrl }: FastifyRequest) => localPath(raw, originalUrl),
      }
      for (const [name, { getter }] of Object.entries({ base, sentPath }))
        server.decorateRequest(name, {
          getter(this: FastifyRequest) {
            return getter(this)
          },
        } as never)
    },
  }
}

/**
 * The fault of a request with two Host headers, of which a proxy may have used the other one, or with none
 * (RFC 9112 §3.2); null without a fault.
 */
export function hostFault({ rawHeaders, httpVersion }: IncomingMessage): Invalid | null {
  const hosts = rawHeaders.filter((name, i) => i % 2 === 0 && /^host$/i.test(name))
  if (hosts.length > 1) return new Invalid('The request has more than one Host header')
  return hosts.length === 0 && httpVersion !== '1.0'
    ? new Invalid('The request has no Host header')
    : null
}

/** The path of a base URL: empty, or `/books`. */
export const basePathOf = (base: string): string =>
  URL.canParse(base) ? new URL(base).pathname.replace(/\/+$/, '') : ''

// Called four times per request, mostly with the same base.
const routedBasePath = memoizeLast(base => normalizeEncoding(basePathOf(base)))

// Proxies may send the absolute form (RFC 9112 §3.2.2).
const pathOf = (url: string) => url.split(/[?#]/, 1)[0]!.replace(/^https?:\/\/[^/]*/i, '') || '/'
// Some clients send the fragment, which is not intended for servers.
const queryOf = (url: string) => /^[^?#]*(\?[^#]*)?/.exec(url)![1] ?? ''

/** Normalizes percent-encoding (RFC 3986 §6.2.2): `%7e` becomes `~`, `%c3` becomes `%C3`. */
const normalizeEncoding = (path: string) =>
  path.replace(/%[\da-f]{2}/gi, encoded => {
    const letter = String.fromCharCode(Number.parseInt(encoded.slice(1), 16))
    return /[\w.~-]/.test(letter) ? letter : encoded.toUpperCase()
  })

/** Returns a function that removes the base path, which some proxies leave in place. */
function withoutPrefixes(protocols: readonly Protocol[]) {
  const roots = ['api/v1', 'health', 'metrics', ...protocols.flatMap(({ roots }) => roots)]
  const isServed = (path: string) =>
    roots.some(root => path.startsWith(`/${root}`) && /^(?:\/|$)/.test(path.slice(root.length + 1)))
  return (path: string, prefix: string): string => {
    if (prefix === '' || (path !== prefix && !path.startsWith(`${prefix}/`))) return path
    const rest = path.slice(prefix.length) || '/'
    // Handles a base path that equals one of our own paths: /health stands for /health/health.
    return isServed(path) && !isServed(rest) ? path : rest
  }
}

// Normalized by URL, because the value is also sent in headers.
function configuredBase({ public_url }: Config['application']): string | null {
  if (public_url === null || !URL.canParse(public_url)) return null
  return new URL(public_url).href.replace(/\/+$/, '')
}

function requestBase({ headers, socket }: IncomingMessage, isTrusted: TrustProxy): string {
  const proxy: ForwardedHeaders = isTrusted(socket.remoteAddress ?? '', 0)
    ? parseForwarded(headers)
    : {}
  const isSecure = 'encrypted' in socket && socket.encrypted === true
  const { host } = headers
  const authority =
    proxy.host ?? (host !== undefined && isHost(host) ? host : socketAddress(socket))
  return `${proxy.scheme ?? (isSecure ? 'https' : 'http')}://${authority}${proxy.prefix ?? ''}`
}

/** Local address of the connection, for HTTP/1.0 clients that send no Host. */
function socketAddress({ localAddress = '127.0.0.1', localPort = 80 }: Socket): string {
  const address = localAddress.replace(/^::ffff:/, '')
  return `${address.includes(':') ? `[${address.split('%')[0]}]` : address}:${localPort}`
}
