// Routes of the Komga-compatible API: its own, and the catalogues and KOReader sync under the same prefix.
import type { Route } from '../../http/route.ts'
import { koreaderSync } from '../koreader/sync.ts'
import { opds } from '../opds/opds.ts'
import { users } from './accounts/users.ts'

/** What only this API has. Operations have the names of Komga's OpenAPI document. */
export const komgaRoutes: readonly Route[] = [...users]

export const komgaResources: readonly Route[] = [...komgaRoutes, ...opds, ...koreaderSync]
