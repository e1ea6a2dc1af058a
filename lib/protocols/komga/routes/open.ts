// Server of the Komga-compatible API, which opens no port itself. Imported when the API is first enabled.
import type { FastifyInstance } from 'fastify'
import type { Deps } from '../../../http/deps.ts'
import type { ListGate } from '../../../http/limits/list-gate.ts'
import { openServer } from '../../../http/server.ts'
import { createKomgaDialect } from './dialect.ts'
import { komgaResources } from './routes.ts'

export async function openKomga(deps: Deps & { lists: ListGate }): Promise<FastifyInstance> {
  const server = await openServer(deps, komgaResources, { dialect: createKomgaDialect() })
  await server.ready()
  return server
}
