// What reverse proxies say of the request that they hand on: X-Forwarded-* and Forwarded (RFC 7239).
// Whoever is not trusted is not listened to.
import type { IncomingHttpHeaders } from 'node:http'
import { compile } from '@fastify/proxy-addr'
import { Invalid } from '../errors.ts'

/** Whether a proxy at that address is trusted; Fastify asks the same function who the client is. */
export type Trust = (address: string, hop: number) => boolean

/** `prefix` has no slash at its end. */
export type Said = { scheme?: 'http' | 'https'; host?: string; prefix?: string }

/** `list`: addresses and networks, separated by commas. Throws Invalid. */
export function trust(list: string | null): Trust {
  const listed = (list ?? '')
    .split(',')
    .map(proxy => proxy.trim())
    .filter(Boolean)
  if (listed.length === 0) return () => false
  try {
    return compile(listed)
  } catch (cause) {
    const what = cause instanceof Error ? cause.message : 'not a list of addresses'
    throw new Invalid(`application.trusted_proxies: ${what}`, { cause })
  }
}

/** The nearest proxy speaks last; what it says in Forwarded goes before the older headers. */
export function forwarded(headers: IncomingHttpHeaders): Said {
  const rfc = parameters(last(headers.forwarded) ?? '')
  const scheme = (rfc.get('proto') ?? last(headers['x-forwarded-proto']))?.toLowerCase()
  const port = last(headers['x-forwarded-port'])
  const host = withPort(rfc.get('host') ?? last(headers['x-forwarded-host']) ?? headers.host, port)
  const prefix = last(headers['x-forwarded-prefix'])
  return {
    ...(scheme === 'http' || scheme === 'https' ? { scheme } : {}),
    ...(host !== undefined && isHost(host) ? { host } : {}),
    ...(prefix !== undefined && isPrefix.test(prefix)
      ? { prefix: prefix.replace(/\/+$/, '') }
      : {}),
  }
}

/** A name or an address, with or without a port. */
export const isHost = (text: string): boolean =>
  /^(?:\[[\da-f:.]+\]|[\w.-]+)(?::\d{1,5})?$/i.test(text) && URL.canParse(`http://${text}`)

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
    const text = value.join('=').trim()
    return [name.trim().toLowerCase(), text.replace(/^"(.*)"$/, '$1')] as const
  })
  return new Map(pairs.filter(([, value]) => value !== ''))
}
