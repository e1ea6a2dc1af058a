// Where clients reach this server: what is configured; else what trusted proxies say; else what the
// request itself says. And which of its own addresses is meant by the one that was sent.
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Config } from '../config/config.ts'
import { Invalid } from '../errors.ts'
import { canonicalPath, type Entered, enteredTree } from '../opds/tree.ts'
import { forwarded, isHost, type Said, type Trust, trust } from './forwarded.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Absolute address of the server for this client, with its base path and no slash at the end. */
    readonly base: string
    /** The tree of a catalogue that it came by; null for other addresses. */
    readonly entered: Entered | null
  }
}

type Saying = { application: Config['application']; opds: Config['opds'] }

/** What is configured is read at each request, but for the proxies. Throws Invalid. */
export function openAddresses(config: Saying) {
  const isTrusted = trust(config.application.trusted_proxies)
  const baseOf = (request: IncomingMessage) =>
    configured(config.application) ?? addressOf(request, isTrusted)
  const ownPath = (request: IncomingMessage, url: string) =>
    withoutPrefix(plain(pathOf(url)), plain(basePathOf(baseOf(request))))
  const enteredBy = (path: string) => {
    const entered = enteredTree(path)
    return entered?.key == null || config.opds.key_in_path ? entered : null
  }
  return {
    isTrusted,
    /** What the router is asked: without the base path, and in the one spelling that it knows. */
    routedUrl(request: IncomingMessage): string {
      const url = request.url ?? '/'
      const path = ownPath(request, url)
      // A tree that is not entered is no address at all.
      return (enteredBy(path) === null ? path : canonicalPath(path)) + queryOf(url)
    },
    /** Gives requests their `base` and `entered`; to be called before routes are mounted. */
    tell(server: FastifyInstance) {
      const base = { getter: (request: FastifyRequest) => baseOf(request.raw) }
      const entered = {
        getter: ({ raw, originalUrl }: FastifyRequest) => enteredBy(ownPath(raw, originalUrl)),
      }
      for (const [name, { getter }] of Object.entries({ base, entered }))
        server.decorateRequest(name, {
          getter(this: FastifyRequest) {
            return getter(this)
          },
        } as never)
    },
  }
}

/** Throws Invalid for two of the header Host: proxies may have taken another one than we (RFC 9112 §3.2). */
export function oneHost({ rawHeaders }: IncomingMessage): void {
  const hosts = rawHeaders.filter((name, i) => i % 2 === 0 && /^host$/i.test(name))
  if (hosts.length > 1) throw new Invalid('The request names more than one Host')
}

/** The path of a base alone: empty, or `/books`. */
export const basePathOf = (base: string): string =>
  URL.canParse(base) ? new URL(base).pathname.replace(/\/+$/, '') : ''

// Of proxies that ask for a whole address (RFC 9112 §3.2.2) the path is what counts.
const pathOf = (url: string) => url.split(/[?#]/, 1)[0]!.replace(/^https?:\/\/[^/]*/i, '') || '/'
// A fragment is not for servers, but some clients send it.
const queryOf = (url: string) => /^[^?#]*(\?[^#]*)?/.exec(url)![1] ?? ''

/** A path in the one spelling of all that mean the same (RFC 3986 §6.2.2): `%7e` is `~`, `%c3` is `%C3`. */
const plain = (path: string) =>
  path.replace(/%[\da-f]{2}/gi, written => {
    const letter = String.fromCharCode(Number.parseInt(written.slice(1), 16))
    return /[\w.~-]/.test(letter) ? letter : written.toUpperCase()
  })

const known = /^\/(?:api\/v1|opds(?:-comics)?|health|metrics)(?=\/|$)/

/** A path without the base path, should a proxy have left it there. */
function withoutPrefix(path: string, prefix: string): string {
  if (prefix === '' || (path !== prefix && !path.startsWith(`${prefix}/`))) return path
  const rest = path.slice(prefix.length) || '/'
  // Below a base that is called like an address of ours: /opds/v1 came from /opds/opds/v1.
  return known.test(path) && !known.test(rest) ? path : rest
}

// As URLs are written, whatever letters were configured: it also stands in headers.
function configured({ public_url }: Config['application']): string | null {
  if (public_url === null || !URL.canParse(public_url)) return null
  return new URL(public_url).href.replace(/\/+$/, '')
}

function addressOf({ headers, socket }: IncomingMessage, isTrusted: Trust): string {
  const said: Said = isTrusted(socket.remoteAddress ?? '', 0) ? forwarded(headers) : {}
  const isSecure = 'encrypted' in socket && socket.encrypted === true
  const { host } = headers
  const reached = said.host ?? (host !== undefined && isHost(host) ? host : placeOf(socket))
  return `${said.scheme ?? (isSecure ? 'https' : 'http')}://${reached}${said.prefix ?? ''}`
}

/** For clients that name no host, as those of HTTP/1.0: where they found us. */
function placeOf({ localAddress = '127.0.0.1', localPort = 80 }: Socket): string {
  const address = localAddress.replace(/^::ffff:/, '')
  return `${address.includes(':') ? `[${address.split('%')[0]}]` : address}:${localPort}`
}
