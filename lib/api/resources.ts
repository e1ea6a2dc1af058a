// The list of resources; an explicit list, so that order, types and go-to-definition survive.

import { analyze } from './analyze.ts'
import { apiKeys } from './api-keys.ts'
import { bookLists } from './book-lists.ts'
import { bookMetadataRoutes } from './book-metadata.ts'
import { books } from './books.ts'
import { covers } from './covers.ts'
import { duplicates } from './duplicates.ts'
import { externalIds } from './external-ids.ts'
import { externalLinks } from './external-links.ts'
import { downloads } from './files.ts'
import { filesystem } from './filesystem.ts'
import { health } from './health.ts'
import { labels } from './labels.ts'
import { libraries } from './libraries.ts'
import { metrics } from './metrics.ts'
import { opds } from './opds.ts'
import { pages } from './pages.ts'
import { preferences } from './preferences.ts'
import { progress } from './progress.ts'
import { purge } from './purge.ts'
import type { Route } from './route.ts'
import { scans } from './scans.ts'
import { series } from './series.ts'
import { seriesLists } from './series-lists.ts'
import { seriesMetadataRoutes } from './series-metadata.ts'
import { seriesSharingTags } from './series-sharing-tags.ts'
import { session } from './session.ts'
import { settings } from './settings.ts'
import { setup } from './setup.ts'
import { sharingTags } from './sharing-tags.ts'
import { streams } from './streams.ts'
import { tasks } from './tasks.ts'
import { thumbnails } from './thumbnails.ts'
import { user } from './user.ts'
import { users } from './users.ts'

export const resources: readonly Route[] = [
  ...health,
  ...metrics,
  ...setup,
  ...session,
  ...user,
  ...users,
  ...apiKeys,
  ...sharingTags,
  ...seriesSharingTags,
  ...bookLists,
  ...books,
  ...pages,
  ...thumbnails,
  ...covers,
  ...downloads,
  ...preferences,
  ...progress,
  ...seriesLists,
  ...series,
  ...seriesMetadataRoutes,
  ...bookMetadataRoutes,
  ...labels,
  ...externalIds,
  ...externalLinks,
  ...analyze,
  ...duplicates,
  ...filesystem,
  ...libraries,
  ...purge,
  ...scans,
  ...settings,
  ...tasks,
  ...streams,
  ...opds,
]
