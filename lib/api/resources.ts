// Routes of all resources, listed explicitly for order, types and go-to-definition.
import { apiKeys } from '../accounts/routes/api-keys.ts'
import { impersonation } from '../accounts/routes/impersonation.ts'
import { preferences } from '../accounts/routes/preferences.ts'
import { session } from '../accounts/routes/session.ts'
import { setup } from '../accounts/routes/setup.ts'
import { sharingTags } from '../accounts/routes/sharing-tags.ts'
import { users } from '../accounts/routes/users.ts'
import { backups } from '../backup/routes/backups.ts'
import { bookErrorRoutes } from '../catalog/book/routes/book-errors.ts'
import { bookLists } from '../catalog/book/routes/book-lists.ts'
import { booksById } from '../catalog/book/routes/books.ts'
import { covers } from '../catalog/cover/routes/covers.ts'
import { thumbnails } from '../catalog/cover/routes/thumbnails.ts'
import { duplicates } from '../catalog/duplicate/routes/duplicates.ts'
import { labels } from '../catalog/label/routes/labels.ts'
import { analyze } from '../catalog/library/routes/analyze.ts'
import { filesystem } from '../catalog/library/routes/filesystem.ts'
import { libraries } from '../catalog/library/routes/libraries.ts'
import { purge } from '../catalog/library/routes/purge.ts'
import { scans } from '../catalog/library/routes/scans.ts'
import { workOnMany } from '../catalog/library/routes/work-on-many.ts'
import { bookMetadataRoutes, seriesMetadataRoutes } from '../catalog/metadata/routes/metadata.ts'
import { alternateTitles } from '../catalog/series/routes/alternate-titles.ts'
import { externalRoutes } from '../catalog/series/routes/external-references.ts'
import { series } from '../catalog/series/routes/series.ts'
import { seriesLists } from '../catalog/series/routes/series-lists.ts'
import { seriesSharingTags } from '../catalog/series/routes/series-sharing-tags.ts'
import { downloads } from '../download/routes/files.ts'
import type { Route } from '../http/route.ts'
import { names } from '../list/routes/names.ts'
import { matchRoutes } from '../match/routes/match-routes.ts'
import { matchTasks } from '../match/routes/match-tasks.ts'
import { previews } from '../match/routes/previews.ts'
import { searchRoutes } from '../match/routes/search-routes.ts'
import { bulkChanges } from '../organize/routes/bulk.ts'
import { bulkRead } from '../organize/routes/bulk-read.ts'
import { cbl } from '../organize/routes/cbl.ts'
import { filterPresets } from '../organize/routes/filter-presets.ts'
import { groupingCovers } from '../organize/routes/grouping-covers.ts'
import { collections, readLists } from '../organize/routes/groupings.ts'
import { ratings } from '../organize/routes/ratings.ts'
import { wantToRead } from '../organize/routes/want-to-read.ts'
import { pages } from '../page/routes/pages.ts'
import { bookText } from '../page/routes/text.ts'
import { koreaderSync } from '../protocols/koreader/routes/sync.ts'
import { opds } from '../protocols/opds/routes/opds.ts'
import { annotations } from '../reading/routes/annotations.ts'
import { readHistory } from '../reading/routes/history.ts'
import { progress } from '../reading/routes/progress.ts'
import { readingSessions } from '../reading/routes/sessions.ts'
import { readingStats } from '../reading/routes/statistics.ts'
import { releaseSources } from '../releases/routes/release-sources.ts'
import { releases } from '../releases/routes/releases.ts'
import { tracking } from '../releases/routes/tracking.ts'
import { sources } from '../sources/routes/sources.ts'
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
  ...users,
  ...impersonation,
  ...apiKeys,
  ...sharingTags,
  ...seriesSharingTags,
  ...bookLists,
  ...booksById,
  ...bookErrorRoutes,
  ...pages,
  ...bookText,
  ...thumbnails,
  ...covers,
  ...groupingCovers,
  ...downloads,
  ...preferences,
  ...progress,
  ...readingSessions,
  ...annotations,
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
  ...names,
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
  ...searchRoutes,
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
  ...tasks,
  ...backups,
  ...streams,
  ...opds,
  ...koreaderSync,
]
