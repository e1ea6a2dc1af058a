// Parses addresses to listen on (`host:port`, IPv6 in brackets), and explains why one is not available.
import { Invalid } from '../../base/errors.ts'

/** Throws Invalid, which names the key. */
export function parseBindAddress(bind: string, key: string): { host: string; port: number } {
  const [, host = '', port = ''] = /^(.+):(\d{1,5})$/.exec(bind) ?? []
  const hostname = /^\[(.+)\]$/.exec(host)?.[1] ?? host
  const isUnambiguous = hostname !== host || !host.includes(':')
  if (hostname === '' || !isUnambiguous || Number(port) > 65_535)
    throw new Invalid(`${key} must be an address and port like 127.0.0.1:9464 or [::1]:9464`)
  return { host: hostname, port: Number(port) }
}

const causes: Record<string, string> = {
  EADDRINUSE: 'another program is using this port',
  EADDRNOTAVAIL: 'this machine does not have this address',
  EACCES: 'this user may not use this port',
  ENOTFOUND: 'this host name has no address',
  EAI_AGAIN: 'the name service does not respond',
}

/** `keys`: the configuration keys that determine the address. */
export function cannotListen(address: string, keys: string, cause: unknown): Invalid {
  const { code = 'error', message } = cause as NodeJS.ErrnoException
  const problem = causes[code] ?? message
  return new Invalid(`Cannot listen on ${address} (${code}): ${problem}; change ${keys}`, { cause })
}
