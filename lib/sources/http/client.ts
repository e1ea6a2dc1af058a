// HTTP client of sources: requests with timeouts, size limits, validators, redirects and the guard.
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { version } from '../../base/version.ts'
import { SourceFailure } from '../failure.ts'
import { type Limits, openResponse, readBody } from './exchange.ts'
import { createGuard, type LookupAll } from './guard.ts'
import { createHosts, type HostLimits } from './hosts.ts'

/** GET, or POST with a body of JSON. Errors name only the host: the URL may contain a key. */
export type Outgoing = {
  url: string
  json?: string
  /** Sent only to the origin of `url`, not to redirect targets. */
  headers?: Record<string, string>
}

export type HttpRequest = Outgoing & {
  limits?: HostLimits | undefined
  accept?: string
  /** From an earlier response; the answer is 304 if nothing changed. */
  etag?: string | null
  lastModified?: string | null
  /** After decompression. */
  maxBytes?: number
  signal: AbortSignal
}

/** Status 200 (any 2xx), 304, 404 or 410; the body is empty except for 200. */
export type HttpResponse = {
  status: 200 | 304 | 404
  body: Buffer
  contentType: string | null
  etag: string | null
  lastModified: string | null
  /** The URL after redirects. */
  url: string
}

export type HttpClient = { send(request: HttpRequest): Promise<HttpResponse> }

export type HttpOptions = {
  /** Networks that are allowed although not public; null for none. Read on each use. */
  allowedNetworks: () => string | null
  /** Pause between two requests to a host. */
  intervalMs?: number
  limits?: Partial<Limits>
  resolve?: LookupAll
  now?: () => number
}

export const maxRedirects = 5
export const defaultMaxBytes = 10 * 1024 * 1024
// 420 is Comic Vine's.
const limitStatuses = new Set([420, 429, 503])
const redirects = new Set([301, 302, 303, 307, 308])
export const defaultLimits: Limits = {
  connectMs: 10_000,
  headersMs: 20_000,
  idleMs: 20_000,
  totalMs: 60_000,
}
const userAgent = `Stackroom/${version}`

/** Requests reject with SourceFailure, or with the signal's reason. */
export function createHttpClient(options: HttpOptions): HttpClient {
  const guard = createGuard(options)
  const hosts = createHosts(options)
  const limits = { ...defaultLimits, ...options.limits }

  async function send(request: HttpRequest): Promise<HttpResponse> {
    const start = parseUrl(request.url)
    let url = start
    for (let hop = 0; hop <= maxRedirects; hop++) {
      guard.checkUrl(url)
      await hosts.admit(url.host, request)
      const headers = headersOf(request, url.origin === start.origin)
      const target = await exchange(url, headers, request)
      if (!(target instanceof URL)) return target
      url = target
    }
    throw new SourceFailure(`${start.host} redirects too many times`, 'status')
  }

  /** The response, or the redirect target. */
  async function exchange(url: URL, headers: Record<string, string>, request: HttpRequest) {
    const { signal, maxBytes = defaultMaxBytes } = request
    const total = AbortSignal.timeout(limits.totalMs)
    try {
      const both = AbortSignal.any([signal, total])
      const { json } = request
      const response = await openResponse(url, { headers, json, guard, limits, signal: both })
      try {
        return await read(url, response, { maxBytes, isPost: json !== undefined })
      } finally {
        response.destroy()
      }
    } catch (error) {
      if (signal.aborted) throw signal.reason
      throw asSourceFailure(error, url.host, total.aborted)
    }
  }

  type Reading = { maxBytes: number; isPost: boolean }
  async function read(url: URL, response: IncomingMessage, { maxBytes, isPost }: Reading) {
    const { statusCode: status = 0, headers } = response
    if (limitStatuses.has(status)) throw hosts.limited(url.host, headers['retry-after'])
    hosts.succeeded(url.host)
    if (redirects.has(status) && headers.location && !isPost) return parseUrl(headers.location, url)
    if (status === 304) return toResponse(304, url, headers)
    if (status === 404 || status === 410) return toResponse(404, url, headers)
    if (status === 401 || status === 403)
      throw new SourceFailure(
        `${url.host} refuses access (status ${status}): check the credentials`,
        'status',
      )
    if (status < 200 || status >= 300)
      throw new SourceFailure(`${url.host} responded with status ${status}`, 'status')
    return toResponse(200, url, headers, await readBody(response, url.host, maxBytes))
  }

  return { send }
}

function parseUrl(text: string, base?: URL): URL {
  const url = text.length <= 8000 ? URL.parse(text, base?.href) : null
  if (url === null) throw new SourceFailure('The URL is not valid', 'refused')
  url.hash = ''
  return url
}

function headersOf(request: HttpRequest, isOwn: boolean): Record<string, string> {
  const { headers, json, accept, etag, lastModified } = request
  return {
    'user-agent': userAgent,
    accept: accept ?? '*/*',
    'accept-encoding': 'gzip',
    ...(json === undefined ? {} : { 'content-type': 'application/json' }),
    ...(etag ? { 'if-none-match': etag } : {}),
    ...(lastModified ? { 'if-modified-since': lastModified } : {}),
    ...(isOwn ? headers : {}),
  }
}

const toResponse = (
  status: HttpResponse['status'],
  { href }: URL,
  headers: IncomingHttpHeaders,
  body: Buffer = Buffer.alloc(0),
): HttpResponse => ({
  status,
  body,
  contentType: headers['content-type'] ?? null,
  etag: headers.etag ?? null,
  lastModified: headers['last-modified'] ?? null,
  url: href,
})

const reasons: Record<string, string> = {
  ENOTFOUND: 'is unknown',
  EAI_AGAIN: 'cannot be resolved at the moment',
  ECONNREFUSED: 'refuses the connection',
  ECONNRESET: 'closed the connection',
  EHOSTUNREACH: 'cannot be reached',
  ENETUNREACH: 'cannot be reached',
  HPE_HEADER_OVERFLOW: 'sends too many headers',
}

function asSourceFailure(error: unknown, host: string, isTimeout: boolean): SourceFailure {
  if (error instanceof SourceFailure) return error
  if (isTimeout) return new SourceFailure(`${host} takes too long to respond`, 'timeout')
  const { code = '' } = error as NodeJS.ErrnoException
  const reason =
    reasons[code] ??
    (/CERT|SSL|TLS|SIGNATURE/.test(code) ? 'has no valid certificate' : 'does not respond properly')
  return new SourceFailure(`${host} ${reason}`, 'unreachable', { cause: error })
}
