// Database URLs in libpq's format: converts user, hosts, TLS and parameters to driver options.
import { Invalid } from '../../base/errors.ts'
import type { DriverOptions } from './driver.ts'
import { type Encryption, encryptionsOf } from './tls.ts'
import { checkParameter, isSupported } from './url-parameters.ts'

/** How to connect. `encryptions` are tried in order, the second if the server refuses the first. */
export type DatabaseUrl = { options: DriverOptions; encryptions: readonly Encryption[] }

const urlForm = /^postgres(?:ql)?:\/\/(?:([^/?]*)@)?([^/?]*)(?:\/([^?]*))?(?:\?(.*))?$/s
const hostForm = /^(\[[^\]]*\]|[^:]*)(?::(\d*))?$/
const defaultPort = 5432
const encoding =
  'special characters of the password and of parameters must be percent-encoded (@ as %40, / as %2F, ? as %3F)'

/** Throws Invalid naming what cannot be used, but never a password. Reads the certificate files. */
export function parseDatabaseUrl(url: string): DatabaseUrl {
  const values = valuesOf(url)
  const hosts = hostsOf(values)
  const isSocket = hosts[0]!.name.startsWith('/')
  if (hosts.length > 1 && hosts.some(h => h.name.startsWith('/')))
    throw new Invalid('database.url: a socket directory cannot be one of several hosts')
  // Among several hosts the writable one is used, unless `any` is given.
  const attributes = values.get('target_session_attrs') ?? (hosts.length > 1 ? 'read-write' : 'any')
  const name = values.get('application_name') ?? values.get('fallback_application_name')
  const options = {
    ...(isSocket
      ? { host: hosts[0]!.name, port: hosts[0]!.port }
      : { host: hosts.map(h => h.name), port: hosts.map(h => h.port) }),
    user: values.get('user'),
    password: values.get('password'),
    database: values.get('dbname'),
    ...(attributes !== 'any' && { target_session_attrs: attributes }),
    ...(values.has('connect_timeout') && { connect_timeout: seconds(values) }),
    connection: {
      ...(name && { application_name: name }),
      ...(values.has('options') && { options: values.get('options') }),
    },
    ...(values.get('sslnegotiation') === 'direct' && { sslnegotiation: 'direct' }),
  } as unknown as DriverOptions
  return { options, encryptions: isSocket ? [false] : encryptionsOf(values) }
}

function valuesOf(url: string): Map<string, string> {
  // Part of a password with these characters would become a host or a parameter, which messages name.
  if (/^[^/?]*[/?].*@/s.test(url.slice(url.indexOf('://') + 3)))
    throw new Invalid(`database.url has an @ after a / or ?; ${encoding}`)
  const [, account = '', hosts = '', database = '', query = ''] = urlForm.exec(url) ?? []
  const [, user = '', password = ''] = /^([^:]*):?(.*)$/s.exec(account) ?? []
  const values = new Map<string, string>()
  const set = (name: string, text: string) => text && values.set(name, decoded(name, text))
  set('user', user)
  set('password', password)
  set('dbname', database)
  const list = hosts.split(',').map(text => hostForm.exec(text))
  if (list.includes(null))
    throw new Invalid(`database.url has an invalid host or port; ${encoding}`)
  set('host', list.some(h => h![1]) ? list.map(h => h![1]!.replace(/^\[|\]$/g, '')).join(',') : '')
  set('port', list.some(h => h![2]) ? list.map(h => h![2] ?? '').join(',') : '')
  for (const pair of query.split('&').filter(Boolean)) {
    const [encoded = '', ...rest] = pair.split('=')
    const name = decoded('the query', encoded)
    values.set(name, decoded(isSupported(name) ? name : 'the query', rest.join('=')))
  }
  // Accepted for JDBC compatibility, as in libpq.
  if (values.get('ssl') === 'true' && values.delete('ssl') && !values.has('sslmode'))
    values.set('sslmode', 'require')
  if (/(?:^|&)(?:ssl)?password=/.test(query) && ![...values.keys()].every(isSupported))
    throw new Invalid(
      'database.url has an unknown parameter next to a password; & in a password must be percent-encoded (%26)',
    )
  for (const [name, value] of values) checkParameter(name, value)
  return values
}

function decoded(name: string, text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw new Invalid(`database.url: ${name} has an invalid percent-encoding; write % as %25`)
  }
}

function hostsOf(values: Map<string, string>): { name: string; port: number }[] {
  const names = (values.get('host') || 'localhost').split(',')
  const ports = (values.get('port') ?? '').split(',')
  if (ports.length > 1 && ports.length !== names.length)
    throw new Invalid(
      `database.url has ${names.length} hosts and ${ports.length} ports; give one port, or one for each host`,
    )
  return names.map((name, i) => {
    const port = Number((ports.length > 1 ? ports[i] : ports[0]) || defaultPort)
    if (!Number.isInteger(port) || port < 1 || port > 65_535)
      throw new Invalid('database.url has a port that is not an integer from 1 to 65535')
    return { name: name || 'localhost', port }
  })
}

function seconds(values: Map<string, string>): number {
  const value = Number(values.get('connect_timeout'))
  if (!Number.isInteger(value)) throw new Invalid('database.url: connect_timeout is not an integer')
  return Math.max(0, value)
}
