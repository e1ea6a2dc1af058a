// Health checks: liveness, readiness and startup probes; name and version of the server.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Deps } from '../../http/deps.ts'
import { respond, route } from '../../http/route.ts'
import { mountHealth } from '../../mount/mount-health.ts'
import type { Sql } from '../../postgres/db.ts'
import { nullable, oneOf, record, Type } from '../../schema.ts'

const Health = record(
  {
    status: oneOf(['ok', 'degraded', 'unavailable'], {
      description: 'degraded: something is missing, but requests are answered as far as possible.',
    }),
    version: Type.String(),
    message: nullable(Type.String()),
  },
  { component: 'Health' },
)
const ServerInfo = record(
  { name: Type.String(), version: Type.String() },
  { component: 'ServerInfo' },
)
const common = {
  method: 'GET',
  permission: 'public',
  bucket: 'exempt',
  withoutDatabase: true,
} as const

const readiness = {
  ...common,
  description:
    '200 if the server and its database respond and it is not shutting down. With too little disk space, or while the folder of a library does not respond, the status is degraded.',
  responses: { 200: Health, 503: Health },
  handle: checkReadiness,
}
const liveness = {
  ...common,
  atRoot: true as const,
  description: 'Does not access the database.',
  responses: { 200: Health },
  handle: (_input: unknown, { version }: Deps) => ({
    status: 'ok' as const,
    version,
    message: null,
  }),
}

export const health = [
  route({
    ...readiness,
    operationId: 'getRootHealth',
    path: '/health',
    atRoot: true,
    summary: 'Health check',
  }),
  route({
    ...readiness,
    operationId: 'getReadiness',
    path: '/health/ready',
    atRoot: true,
    summary: 'Readiness probe',
  }),
  route({ ...readiness, operationId: 'getHealth', path: '/health', summary: 'Health check' }),
  route({
    ...liveness,
    operationId: 'getLiveness',
    path: '/health/live',
    summary: 'Liveness probe',
  }),
  // The server listens only after the database is migrated, so any response means started.
  route({
    ...liveness,
    operationId: 'getStartup',
    path: '/health/startup',
    summary: 'Startup probe',
  }),
  route({
    operationId: 'getServerInfo',
    method: 'GET',
    path: '/info',
    permission: 'public',
    withoutDatabase: true,
    summary: 'Name and version of the server',
    responses: { 200: ServerInfo },
    handle: (_input, { version }) => ({ name: 'Stackroom', version }),
  }),
]

const databaseTimeoutMs = 5_000

async function checkReadiness(_input: unknown, deps: Deps) {
  const { sql, version, lifecycle, monitor, space } = deps
  if (lifecycle.isShuttingDown)
    return notReady(version, 'unavailable', 'The server is shutting down')
  if (!monitor.isAvailable() || !(await isDatabaseResponsive(sql)))
    return notReady(
      version,
      'degraded',
      space.shortage(['database'])
        ? 'The database is not available, and there is too little disk space for it'
        : 'The database is not available',
    )
  const short = space.states().filter(state => state.isShort)
  const hung = mountHealth.countHung()
  const problems = [
    short.length > 0 &&
      `There is too little disk space (${short.map(s => s.area).join(', ')}); background work is paused`,
    hung > 0 &&
      (hung === 1 ? 'A library folder does not respond' : `${hung} library folders do not respond`),
  ].filter(problem => problem !== false)
  const message = problems.join('. ') || null
  return { status: message ? ('degraded' as const) : ('ok' as const), version, message }
}

const notReady = (version: string, status: 'degraded' | 'unavailable', message: string) =>
  respond(503, { status, version, message }, { 'retry-after': '3' })

async function isDatabaseResponsive(sql: Sql): Promise<boolean> {
  const timeout = new AbortController()
  return await Promise.race([
    sql`select 1`.then(
      () => true,
      () => false,
    ),
    sleep(databaseTimeoutMs, false, { signal: timeout.signal }).catch(() => false),
  ]).finally(() => timeout.abort())
}
