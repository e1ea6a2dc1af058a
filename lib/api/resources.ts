// Routes of all resources. The list is explicit, which keeps order, types and go-to-definition.
import type { Route } from '../http/route.ts'
import { apiKeys } from './accounts/api-keys.ts'
import { impersonation } from './accounts/impersonation.ts'
import { preferences } from './accounts/preferences.ts'
import { session } from './accounts/session.ts'
import { setup } from './accounts/setup.ts'
import { sharingTags } from './accounts/sharing-tags.ts'
import { user } from './accounts/user.ts'
import { users } from './accounts/users.ts'
import { verificationPage } from './accounts/verification-page.ts'
import { bookErrorRoutes } from './books/book-errors.ts'
import { bookLists } from './books/book-lists.ts'
import { bookMetadataRoutes } from './books/book-metadata.ts'
import { booksById } from './books/books.ts'
import { duplicates } from './books/duplicates.ts'
import { downloads } from './books/files.ts'
import { progress } from './books/progress.ts'
import { covers } from './images/covers.ts'
import { groupingCovers } from './images/grouping-covers.ts'
import { pages } from './images/pages.ts'
import { thumbnails } from './images/thumbnails.ts'
import { koreaderSync } from './koreader/sync.ts'
import { analyze } from './libraries/analyze.ts'
import { filesystem } from './libraries/filesystem.ts'
import { libraries } from './libraries/libraries.ts'
import { purge } from './libraries/purge.ts'
import { scans } from './libraries/scans.ts'
import { workOnMany } from './libraries/work-on-many.ts'
import { matchRoutes } from './match/match-routes.ts'
import { matchTasks } from './match/match-tasks.ts'
import { previews } from './match/previews.ts'
import { opds } from './opds/opds.ts'
import { bulkChanges } from './organise/bulk.ts'
import { bulkRead } from './organise/bulk-read.ts'
import { cbl } from './organise/cbl.ts'
import { collections } from './organise/collections.ts'
import { filterPresets } from './organise/filter-presets.ts'
import { ratings } from './organise/ratings.ts'
import { readLists } from './organise/read-lists.ts'
import { wantToRead } from './organise/want-to-read.ts'
import { readHistory } from './reading/history.ts'
import { readingSessions } from './reading/sessions.ts'
import { readingStats } from './reading/statistics.ts'
import { releaseSources } from './releases/release-sources.ts'
import { releases } from './releases/releases.ts'
import { tracking } from './releases/tracking.ts'
import { alternateTitles } from './series/alternate-titles.ts'
import { externalRoutes } from './series/external-references.ts'
import { labels } from './series/labels.ts'
import { series } from './series/series.ts'
import { seriesLists } from './series/series-lists.ts'
import { seriesMetadataRoutes } from './series/series-metadata.ts'
import { seriesSharingTags } from './series/series-sharing-tags.ts'
import { sourceStates } from './sources/source-states.ts'
import { sources } from './sources/sources.ts'
import { health } from './system/health.ts'
import { metrics } from './system/metrics.ts'
import { settings } from './system/settings.ts'
import { streams } from './system/streams.ts'
import { tasks } from './system/tasks.ts'

export const resources: readonly Route[] = [
  ...health,
  ...metrics,
  ...setup,
  ...session,
  ...verificationPage,
  ...user,
  ...users,
  ...impersonation,
  ...apiKeys,
  ...sharingTags,
  ...seriesSharingTags,
  ...bookLists,
  ...booksById,
  ...bookErrorRoutes,
  ...pages,
  ...thumbnails,
  ...covers,
  ...groupingCovers,
  ...downloads,
  ...preferences,
  ...progress,
  ...readingSessions,
  ...readHistory,
  ...readingStats,
  ...seriesLists,
  ...series,
  ...collections,
  ...readLists,
  ...cbl,
  ...seriesMetadataRoutes,
  ...bookMetadataRoutes,
  ...labels,
  ...alternateTitles,
  ...externalRoutes('series'),
  ...externalRoutes('book'),
  ...wantToRead,
  ...ratings,
  ...filterPresets,
  ...analyze,
  ...workOnMany,
  ...bulkChanges,
  ...bulkRead,
  ...previews,
  ...matchRoutes,
  ...matchTasks,
  ...releases,
  ...releaseSources,
  ...tracking,
  ...duplicates,
  ...filesystem,
  ...libraries,
  ...purge,
  ...scans,
  ...settings,
  ...sources,
  ...sourceStates,
  ...tasks,
  ...streams,
  ...opds,
  ...koreaderSync,
]
