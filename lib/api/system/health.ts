// Health checks: liveness, readiness and startup probes; name and version of the server.

import { component, nullable, oneOf, Type } from '../../base/schema.ts'
import type { Deps } from '../../http/deps.ts'
import { respond, route } from '../../http/route.ts'
import { checkReadiness } from '../../store/readiness.ts'

const Health = component('Health', {
  status: oneOf(['ok', 'degraded', 'unavailable'], {
    description: 'degraded: something is missing, but the server responds as far as possible.',
  }),
  version: Type.String(),
  message: nullable(Type.String()),
})
const ServerInfo = component('ServerInfo', { name: Type.String(), version: Type.String() })
const common = {
  permission: 'public',
  bucket: 'exempt',
  withoutDatabase: true,
} as const

const readiness = {
  ...common,
  description:
    '200 if the server and its database respond and it is not shutting down. The status is degraded if disk space is low or the folder of a library does not respond.',
  responses: { 200: Health, 503: Health },
  handle: respondReadiness,
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
  route('GET /health', {
    ...readiness,
    operationId: 'getRootHealth',
    atRoot: true,
    summary: 'Health check',
  }),
  route('GET /health/ready', {
    ...readiness,
    operationId: 'getReadiness',
    atRoot: true,
    summary: 'Readiness probe',
  }),
  route('GET /health', { ...readiness, operationId: 'getHealth', summary: 'Health check' }),
  route('GET /health/live', {
    ...liveness,
    operationId: 'getLiveness',
    summary: 'Liveness probe',
  }),
  // The server listens only after the database is migrated, so any response proves that it has started.
  route('GET /health/startup', {
    ...liveness,
    operationId: 'getStartup',
    summary: 'Startup probe',
  }),
  route('GET /info', {
    operationId: 'getServerInfo',
    permission: 'public',
    withoutDatabase: true,
    summary: 'Server name and version',
    responses: { 200: ServerInfo },
    handle: (_input, { version }) => ({ name: 'Stackroom', version }),
  }),
]

async function respondReadiness(_input: unknown, deps: Deps) {
  const { isShuttingDown } = deps.lifecycle
  const { isReady, health } = await checkReadiness({ ...deps, isShuttingDown })
  return isReady ? health : respond(503, health, { 'retry-after': '3' })
}
