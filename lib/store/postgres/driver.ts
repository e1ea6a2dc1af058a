// PostgreSQL driver: postgres.js with our fixes (driver-fixes.ts) and our own sockets (sockets.ts).
import { registerHooks } from 'node:module'
import type { Options } from 'postgres'
import { fixed } from './driver-fixes.ts'
import { withoutPostgresVariables } from './environment.ts'
import { createSockets, type Host, type Target, targetOf } from './sockets.ts'

type OwnOptions = {
  /** Seconds after which a silent connection that owes a response counts as lost. */
  response_timeout?: number | undefined
  /** Called when an open connection is lost; failed connection attempts do not count. */
  onloss?: (() => void) | undefined
  /** Where the pool connects to; derived once from the other options. */
  target?: Target | undefined
}

export type DriverOptions = Options<Record<string, never>> & OwnOptions

const missing = new Set<string>()
const driver = await loadDriver()

/** Bugs of the installed driver version that could not be fixed. */
export const missingFixes: ReadonlySet<string> = missing

/** A pool of the driver, with defaults that do not come from the environment. */
export function postgres(options: DriverOptions): ReturnType<typeof driver> {
  const target = options.target ?? targetOf(options)
  const sockets = createSockets(target, {
    responseTimeoutMs: (options.response_timeout ?? 0) * 1000,
    onLoss: options.onloss,
    check: host => checkSession(options, target, host),
  })
  const [{ name, port }] = target.hosts as [Host]
  const pool = withoutVariables(() =>
    driver({
      ...options,
      // The sockets handle all of this.
      ...{ host: [name], port: [port], path: undefined, ssl: false },
      ...{ sslnegotiation: undefined, target_session_attrs: undefined },
      socket: sockets.open,
    } as unknown as Options<Record<string, never>>),
  )
  const { end } = pool
  Object.assign(pool.options, { target, response_timeout: options.response_timeout })
  return Object.assign(pool, {
    async end(timeout?: { timeout?: number }) {
      await end(timeout)
      sockets.close()
    },
  })
}

/** Throws if the session on a host is not of the kind that the target requires. */
async function checkSession(options: DriverOptions, target: Target, host: Host) {
  const { sessionAttributes, hosts } = target
  if (sessionAttributes === null && hosts.length === 1) return
  const session = postgres({
    ...options,
    ...{ max: 1, fetch_types: false, onclose: undefined, onloss: undefined },
    target: { ...target, hosts: [host], sessionAttributes: null },
  } as DriverOptions)
  try {
    const [row] = await session<[{ isStandby: boolean; isReadOnly: boolean }]>`
      select pg_is_in_recovery() as "isStandby",
        current_setting('transaction_read_only') = 'on' as "isReadOnly"`
    const { isStandby, isReadOnly } = row
    const isSuitable = {
      'read-write': !isReadOnly,
      'read-only': isReadOnly,
      primary: !isStandby,
      standby: isStandby,
    }[sessionAttributes ?? '']
    if (isSuitable === false)
      throw Object.assign(new Error(`The session is not ${sessionAttributes}`), {
        code: 'TARGET_SESSION_ATTRS',
      })
  } finally {
    await session.end({ timeout: 0 })
  }
}

/**
 * For absent options the driver reads variables: libpq's (PGUSER) and some of its own (PGMAX_LIFETIME,
 * PGDEBUG).
 */
function withoutVariables<T>(work: () => T): T {
  const { env } = process
  process.env = withoutPostgresVariables()
  try {
    return work()
  } finally {
    process.env = env
  }
}

async function loadDriver() {
  const folder = new URL('.', import.meta.resolve('postgres')).href
  const hooks = registerHooks({
    load(url, context, nextLoad) {
      const loaded = nextLoad(url, context)
      if (!url.startsWith(folder)) return loaded
      const source = fixed(url.slice(folder.length), String(loaded.source), fix =>
        missing.add(fix.fault),
      )
      return { ...loaded, source }
    },
  })
  try {
    return (await import('postgres')).default
  } finally {
    hooks.deregister()
  }
}
