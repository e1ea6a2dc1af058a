// Addresses to listen on, as `host:port` (an IPv6 address in brackets).
import { Invalid } from '../errors.ts'

/** Throws Invalid, which names the key. */
export function parseBindAddress(bind: string, key: string): { host: string; port: number } {
  const [, host = '', port = ''] = /^(.+):(\d{1,5})$/.exec(bind) ?? []
  const hostname = /^\[(.+)\]$/.exec(host)?.[1] ?? host
  const isUnambiguous = hostname !== host || !host.includes(':')
  if (hostname === '' || !isUnambiguous || Number(port) > 65_535)
    throw new Invalid(`${key} must be an address and port like 127.0.0.1:9464 or [::1]:9464`)
  return { host: hostname, port: Number(port) }
}
