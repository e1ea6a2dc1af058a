// Where clients reach this server: what is configured; else what trusted proxies say (X-Forwarded-*,
// RFC 7239); else what the request itself says.

import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { compile } from '@fastify/proxy-addr'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Config } from '../config.ts'
import { canonicalPath } from '../opds/tree.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Absolute address of the server for this client, with its base path and no slash at the end. */
    readonly base: string
  }
}

type Application = Pick<Config['application'], 'public_url' | 'trusted_proxies'>

/** To be called before routes are mounted. */
export function tellBase(server: FastifyInstance, application: Application) {
  const isTrusted = trust(application)
  server.decorateRequest('base', {
    getter(this: FastifyRequest) {
      return baseOf(this.raw, { application, isTrusted })
    },
  } as never)
}

/** The path of the base alone: empty, or `/books`. */
export const basePathOf = (base: string): string => new URL(base).pathname.replace(/\/$/, '')

/** What the router is asked: without the base path, and in the one spelling that it knows. */
export function routedUrl(url: string, application: Pick<Application, 'public_url'>): string {
  const [path = '', ...search] = url.split('?')
  const own = canonicalPath(ownPath(path, application))
  return search.length === 0 ? own : `${own}?${search.join('?')}`
}

/** A path without the base path, should a proxy have left it there. */
export function ownPath(path: string, { public_url }: Pick<Application, 'public_url'>): string {
  const base = public_url === null ? '' : basePathOf(public_url)
  const isBelow = base !== '' && (path === base || path.startsWith(`${base}/`))
  return isBelow ? path.slice(base.length) || '/' : path
}

type Trust = (address: string, hop: number) => boolean
type Knowing = { application: Application; isTrusted: Trust }

function trust({ trusted_proxies }: Application): Trust {
  const listed = (trusted_proxies ?? '')
    .split(',')
    .map(proxy => proxy.trim())
    .filter(Boolean)
  return listed.length === 0 ? () => false : compile(listed)
}

function baseOf(request: IncomingMessage, { application, isTrusted }: Knowing): string {
  if (application.public_url !== null) return application.public_url.replace(/\/+$/, '')
  const { headers, socket } = request
  const isSecure = 'encrypted' in socket && socket.encrypted === true
  const own = { scheme: isSecure ? 'https' : 'http', host: headers.host, prefix: '' }
  const said = isTrusted(socket.remoteAddress ?? '', 0) ? forwarded(headers) : {}
  const { scheme, host, prefix } = { ...own, ...said }
  const origin = `${scheme}://${host ?? ''}`
  // Whoever sends a Host that is none learns nothing by it.
  return `${host !== undefined && isHost.test(host) && URL.canParse(origin) ? origin : 'http://localhost'}${prefix}`
}

const isHost = /^(?:\[[\da-f:.]+\]|[\w.-]+)(?::\d{1,5})?$/i

/** The nearest proxy speaks last; what it says of Forwarded goes before the older headers. */
function forwarded(headers: IncomingHttpHeaders) {
  const rfc = parameters(last(headers.forwarded) ?? '')
  const scheme = rfc.get('proto') ?? last(headers['x-forwarded-proto'])
  const port = last(headers['x-forwarded-port'])
  const host = withPort(rfc.get('host') ?? last(headers['x-forwarded-host']) ?? headers.host, port)
  const prefix = last(headers['x-forwarded-prefix'])
  return {
    ...(scheme === 'http' || scheme === 'https' ? { scheme } : {}),
    ...(host === undefined ? {} : { host }),
    ...(prefix !== undefined && isPrefix.test(prefix)
      ? { prefix: prefix.replace(/\/+$/, '') }
      : {}),
  }
}

const isPrefix = /^(?:\/[\w.~%-]+)*\/?$/
const usualPorts = new Set(['80', '443'])

function withPort(host: string | undefined, port: string | undefined): string | undefined {
  if (host === undefined || port === undefined || /:\d+$/.test(host)) return host
  return usualPorts.has(port) || !/^\d{1,5}$/.test(port) ? host : `${host}:${port}`
}

function last(header: string | string[] | undefined): string | undefined {
  return (Array.isArray(header) ? header.join(',') : header)?.split(',').at(-1)?.trim() || undefined
}

/** `for=1.2.3.4;host="h:8080";proto=https` */
function parameters(element: string): Map<string, string> {
  const pairs = element.split(';').map(pair => {
    const [name = '', ...value] = pair.split('=')
    return [
      name.trim().toLowerCase(),
      value
        .join('=')
        .trim()
        .replace(/^"(.*)"$/, '$1'),
    ] as const
  })
  return new Map(pairs.filter(([, value]) => value !== ''))
}
