// Health: whether the process lives, whether it can work, and what is running here.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Deps } from '../../http/deps.ts'
import { answer, route } from '../../http/route.ts'
import type { Sql } from '../../postgres/db.ts'
import { oneOf, record, Type } from '../../schema.ts'

const Health = record({ status: oneOf(['ok', 'unavailable']), version: Type.String() })
const common = { method: 'GET', permission: 'public', bucket: 'exempt' } as const

const ready = {
  ...common,
  description: 'Whether the server and its database answer, and it is not about to end.',
  responses: { 200: Health, 503: Health },
  handle: check,
}
const live = {
  ...common,
  atRoot: true as const,
  description: 'Asks nothing of the database.',
  responses: { 200: Health },
  handle: (_input: unknown, { version }: Deps) => ({ status: 'ok' as const, version }),
}

export const health = [
  route({ ...ready, path: '/health', atRoot: true, summary: 'Health check' }),
  route({ ...ready, path: '/health/ready', atRoot: true, summary: 'Ready for requests' }),
  route({ ...ready, path: '/health', summary: 'Health check' }),
  route({ ...live, path: '/health/live', summary: 'The process is alive' }),
  // Whoever can be asked has started: the server listens when the database is migrated.
  route({ ...live, path: '/health/startup', summary: 'The process has started' }),
  route({
    method: 'GET',
    path: '/info',
    permission: 'public',
    summary: 'Name and version of the server',
    responses: { 200: record({ name: Type.String(), version: Type.String() }) },
    handle: (_input, { version }) => ({ name: 'Stackroom', version }),
  }),
]

const patienceMs = 5_000

async function check(_input: unknown, { sql, version, presence }: Deps) {
  const isReady = !presence.isLeaving && (await answers(sql))
  return isReady
    ? { status: 'ok' as const, version }
    : answer(503, { status: 'unavailable' as const, version })
}

/** A database that does not say anything is as good as none. */
async function answers(sql: Sql): Promise<boolean> {
  const silence = new AbortController()
  return await Promise.race([
    sql`select 1`.then(
      () => true,
      () => false,
    ),
    sleep(patienceMs, false, { signal: silence.signal }).catch(() => false),
  ]).finally(() => silence.abort())
}
