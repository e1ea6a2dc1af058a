// Reverse proxy headers: X-Forwarded-* and Forwarded (RFC 7239), accepted from trusted proxies only.
import type { IncomingHttpHeaders } from 'node:http'
import { compile } from '@fastify/proxy-addr'
import { Invalid } from '../../base/errors.ts'
import { memoizeLast } from '../../base/lazy.ts'

/** Whether a proxy at this address is trusted; also Fastify's `trustProxy` function. */
export type TrustProxy = (address: string, hop: number) => boolean

/** `prefix` has no trailing slash. */
export type ForwardedHeaders = { scheme?: 'http' | 'https'; host?: string; prefix?: string }

/** `list`: addresses and networks, separated by commas. Throws Invalid. */
export function createTrustProxy(list: string | null): TrustProxy {
  const proxies = (list ?? '')
    .split(',')
    .map(proxy => proxy.trim())
    .filter(Boolean)
  if (proxies.length === 0) return () => false
  try {
    return compile(proxies)
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : 'not a list of addresses'
    throw new Invalid(`application.trusted_proxies: ${reason}`, { cause })
  }
}

/** The last element comes from the nearest proxy; `Forwarded` takes precedence over X-Forwarded-*. */
export function parseForwarded(headers: IncomingHttpHeaders): ForwardedHeaders {
  const forwarded = parameters(lastElement(headers.forwarded) ?? '')
  const scheme = (
    forwarded.get('proto') ?? lastElement(headers['x-forwarded-proto'])
  )?.toLowerCase()
  const port = lastElement(headers['x-forwarded-port'])
  const host = withPort(
    forwarded.get('host') ?? lastElement(headers['x-forwarded-host']) ?? headers.host,
    port,
  )
  const prefix = lastElement(headers['x-forwarded-prefix'])
  return {
    ...(scheme === 'http' || scheme === 'https' ? { scheme } : {}),
    ...(host !== undefined && isHost(host) ? { host } : {}),
    ...(prefix !== undefined && prefixPattern.test(prefix)
      ? { prefix: prefix.replace(/\/+$/, '') }
      : {}),
  }
}

/** A host name or IP address, with or without a port. */
export const isHost: (text: string) => boolean = memoizeLast(
  text => /^(?:\[[\da-f:.]+\]|[\w.-]+)(?::\d{1,5})?$/i.test(text) && URL.canParse(`http://${text}`),
)

const prefixPattern = /^(?:\/[\w.~%-]+)*\/?$/
const defaultPorts = new Set(['80', '443'])

function withPort(host: string | undefined, port: string | undefined): string | undefined {
  if (host === undefined || port === undefined || /:\d+$/.test(host)) return host
  return defaultPorts.has(port) || !/^\d{1,5}$/.test(port) ? host : `${host}:${port}`
}

function lastElement(header: string | string[] | undefined): string | undefined {
  return (Array.isArray(header) ? header.join(',') : header)?.split(',').at(-1)?.trim() || undefined
}

/** `for=1.2.3.4;host="h:8080";proto=https` */
function parameters(element: string): Map<string, string> {
  const pairs = element.split(';').map(pair => {
    const [name = '', ...rest] = pair.split('=')
    const value = rest.join('=').trim()
    return [name.trim().toLowerCase(), value.replace(/^"(.*)"$/, '$1')] as const
  })
  return new Map(pairs.filter(([, value]) => value !== ''))
}
