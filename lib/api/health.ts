// Health: whether the process lives, whether it can work, and what is running here.
import type { Sql } from '../db.ts'
import { oneOf, record, Type } from '../schema.ts'
import { answer, route } from './route.ts'

const Health = record({ status: oneOf(['ok', 'unavailable']), version: Type.String() })
const common = { method: 'GET', permission: 'public', bucket: 'exempt' } as const

const ready = {
  ...common,
  description: 'Whether the server and its database answer.',
  responses: { 200: Health, 503: Health },
}

export const health = [
  route({ ...ready, path: '/health', atRoot: true, summary: 'Health check', handle: check }),
  route({
    ...ready,
    path: '/health/ready',
    atRoot: true,
    summary: 'Ready for requests',
    handle: check,
  }),
  route({ ...ready, path: '/health', summary: 'Health check', handle: check }),
  route({
    ...common,
    path: '/health/live',
    atRoot: true,
    summary: 'The process is alive',
    description: 'Asks nothing of the database.',
    responses: { 200: Health },
    handle: (_input, { version }) => ({ status: 'ok' as const, version }),
  }),
  route({
    method: 'GET',
    path: '/info',
    permission: 'public',
    summary: 'Name and version of the server',
    responses: { 200: record({ name: Type.String(), version: Type.String() }) },
    handle: (_input, { version }) => ({ name: 'Stackroom', version }),
  }),
]

async function check(_input: unknown, { sql, version }: { sql: Sql; version: string }) {
  try {
    await sql`select 1`
    return { status: 'ok' as const, version }
  } catch {
    return answer(503, { status: 'unavailable' as const, version })
  }
}
