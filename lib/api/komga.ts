// Server of the Komga-compatible API, which opens no port itself. Imported when the API is first enabled.
import type { FastifyInstance } from 'fastify'
import type { Deps } from '../http/deps.ts'
import type { ListGate } from '../http/limits/list-gate.ts'
import type { Route } from '../http/route.ts'
import { openServer } from '../http/server.ts'
import { createKomgaDialect } from '../protocols/komga/routes/dialect.ts'
import { komgaRoutes } from '../protocols/komga/routes/routes.ts'
import { koreaderSync } from '../protocols/koreader/routes/sync.ts'
import { opds } from '../protocols/opds/routes/opds.ts'

/** Its own routes, and the catalogs and KOReader sync under the same prefix. */
export const komgaResources: readonly Route[] = [
  ...komgaRoutes,
  // Only the routes at the root: those below /api/v1 belong to the native API.
  ...opds.filter(({ atRoot }) => atRoot),
  ...koreaderSync,
]

export async function openKomga(deps: Deps & { lists: ListGate }): Promise<FastifyInstance> {
  const server = await openServer(deps, komgaResources, { dialect: createKomgaDialect() })
  await server.ready()
  return server
}
