// Routes of the Komga-compatible API: its own, and the catalogues and KOReader sync under the same prefix.
import type { Route } from '../../http/route.ts'
import { koreaderSync } from '../koreader/sync.ts'
import { opds } from '../opds/opds.ts'
import { users } from './accounts/users.ts'
import { groupings } from './groupings/groupings.ts'
import { imports } from './imports/imports.ts'
import { downloads } from './items/downloads.ts'
import { items } from './items/items.ts'
import { metadata } from './metadata/metadata.ts'
import { pages } from './pages/pages.ts'
import { groupingPosters } from './posters/grouping-posters.ts'
import { posters } from './posters/posters.ts'
import { publication } from './publication/publication.ts'
import { readProgress } from './reading/read-progress.ts'

/** What only this API has. Operations have the names of Komga's OpenAPI document. */
export const komgaRoutes: readonly Route[] = [
  ...users,
  ...items,
  ...downloads,
  ...pages,
  ...posters,
  ...groupingPosters,
  ...publication,
  ...readProgress,
  ...metadata,
  ...groupings,
  ...imports,
]

export const komgaResources: readonly Route[] = [
  ...komgaRoutes,
  // Not what the native API has of them below /api/v1.
  ...opds.filter(({ atRoot }) => atRoot),
  ...koreaderSync,
]
