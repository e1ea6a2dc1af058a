// TLS of database connections: `sslmode` and its files, with libpq's semantics.
import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { type ConnectionOptions, createSecureContext, getCACertificates } from 'node:tls'
import { Invalid } from '../../base/errors.ts'

/** The driver's `ssl` option; `prefer` continues without encryption if the server does not support it. */
export type Encryption = false | 'prefer' | ConnectionOptions

const modes = ['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full']
const protocols = ['TLSv1', 'TLSv1.1', 'TLSv1.2', 'TLSv1.3']
/** Parameters that have no effect without encryption. */
const details = [
  ...['sslrootcert', 'sslcrl', 'sslcert', 'sslkey', 'sslpassword'],
  ...['ssl_min_protocol_version', 'ssl_max_protocol_version'],
]
export const tlsParameters = ['sslmode', 'sslnegotiation', ...details]

type Values = ReadonlyMap<string, string>

/** Encryptions to try, in order. Throws Invalid naming the parameter or file that cannot be used. */
export function encryptionsOf(values: Values): readonly Encryption[] {
  const root = values.get('sslrootcert')
  const mode = values.get('sslmode') ?? (root === 'system' ? 'verify-full' : 'prefer')
  check('sslmode', mode, modes)
  check('sslnegotiation', values.get('sslnegotiation') ?? 'postgres', ['postgres', 'direct'])
  const isOptional = ['disable', 'allow', 'prefer'].includes(mode)
  const unused = [...details.filter(name => values.has(name))]
  if (values.get('sslnegotiation') === 'direct') unused.push('sslnegotiation=direct')
  if (isOptional && unused[0])
    throw new Invalid(
      `database.url: ${unused[0]} needs sslmode=require, verify-ca or verify-full; sslmode=${mode} also connects without TLS`,
    )
  if (mode === 'disable') return [false]
  if (mode === 'allow') return [false, { rejectUnauthorized: false }]
  if (mode === 'prefer') return ['prefer', false]
  if (root === 'system' && mode !== 'verify-full')
    throw new Invalid(`database.url: sslrootcert=system needs sslmode=verify-full, not ${mode}`)
  if (!root && mode !== 'require')
    throw new Invalid(
      `database.url: sslmode=${mode} needs sslrootcert, a file of root certificates or system`,
    )
  return [
    {
      ...files(values),
      // As in libpq, `require` verifies the chain if there are root certificates.
      rejectUnauthorized: root !== undefined,
      ...(mode !== 'verify-full' && { checkServerIdentity: () => undefined }),
    },
  ]
}

function files(values: Values): ConnectionOptions {
  const root = values.get('sslrootcert')
  if (values.has('sslcert') !== values.has('sslkey'))
    throw new Invalid('database.url: sslcert and sslkey must be used together')
  const min = values.get('ssl_min_protocol_version')
  const max = values.get('ssl_max_protocol_version')
  if (min) check('ssl_min_protocol_version', min, protocols)
  if (max) check('ssl_max_protocol_version', max, protocols)
  const ca = root === 'system' ? getCACertificates('system') : read(values, 'sslrootcert')
  const cert = read(values, 'sslcert')
  for (const [name, text] of [
    ['sslrootcert', ca],
    ['sslcert', cert],
  ] as const)
    if (typeof text === 'string')
      usable(values, name, () => {
        new X509Certificate(text)
      })
  const key = { cert, key: read(values, 'sslkey'), passphrase: values.get('sslpassword') }
  usable(values, 'sslkey', () => createSecureContext(defined(key)))
  const crl = read(values, 'sslcrl')
  usable(values, 'sslcrl', () => createSecureContext(defined({ crl })))
  return defined({ ca, ...key, crl, minVersion: min, maxVersion: max } as ConnectionOptions)
}

function check(name: string, value: string, allowed: string[]) {
  if (!allowed.includes(value))
    throw new Invalid(`database.url: ${name}=${value} is not one of ${allowed.join(', ')}`)
}

function read(values: Values, name: string): string | undefined {
  const path = values.get(name)
  if (path === undefined) return undefined
  try {
    return readFileSync(path, 'utf8')
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException
    throw new Invalid(`database.url: ${name} ${path} cannot be read (${code})`, { cause })
  }
}

function usable(values: Values, name: string, use: () => void) {
  try {
    use()
  } catch (cause) {
    const { message } = cause as Error
    throw new Invalid(`database.url: ${name} ${values.get(name)} cannot be used: ${message}`, {
      cause,
    })
  }
}

function defined<T extends object>(options: T): T {
  return Object.fromEntries(Object.entries(options).filter(([, v]) => v !== undefined)) as T
}
