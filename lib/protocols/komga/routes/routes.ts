// Routes of the Komga-compatible API. Operations are named as in Komga's OpenAPI document.
import type { Route } from '../../../http/route.ts'
import { apiKeys } from './accounts/api-keys.ts'
import { clientSettings } from './accounts/client-settings.ts'
import { users } from './accounts/users.ts'
import { groupingLists } from './groupings/grouping-lists.ts'
import { groupings } from './groupings/groupings.ts'
import { items } from './items/items.ts'
import { libraries } from './libraries/libraries.ts'
import { bookLists } from './lists/books.ts'
import { referential } from './lists/referential.ts'
import { seriesLists } from './lists/series.ts'
import { metadata } from './metadata/metadata.ts'
import { pages } from './pages/pages.ts'
import { posters } from './posters/posters.ts'
import { publication } from './publication/publication.ts'
import { readProgress } from './reading/read-progress.ts'
import { sessions } from './session/sessions.ts'
import { events } from './system/events.ts'
import { metrics } from './system/metrics.ts'
import { server } from './system/server.ts'
import { stubs } from './system/stubs.ts'

export const komgaRoutes: readonly Route[] = [
  ...sessions,
  ...users,
  ...apiKeys,
  ...clientSettings,
  ...server,
  ...metrics,
  ...libraries,
  ...events,
  ...stubs,
  ...items,
  ...pages,
  ...posters,
  ...publication,
  ...readProgress,
  ...metadata,
  ...groupingLists,
  ...groupings,
  ...seriesLists,
  ...bookLists,
  ...referential,
]
