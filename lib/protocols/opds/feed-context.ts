// Feed context: what the feed writers need besides the feed.
import type { Sql } from 'postgres'
import { type Viewer, visibleLibrary } from '../../accounts/viewer.ts'
import { newestSeriesChange } from '../../list/newest-change.ts'
import type { Links } from './links.ts'

export type FeedContext = {
  links: Links
  /** The name of this server. */
  serverName: string
  /** Permissions of the caller: links that it must not follow are left out. */
  allows: { pageStreaming: boolean; progressSync: boolean }
  /** Timestamp of feeds that contain nothing with a timestamp of its own. */
  catalogueUpdatedAt: Date
}

/** When a visible series last changed; of an empty catalogue, a library; 1970 without any. */
export async function catalogueUpdatedAt(sql: Sql, viewer: Viewer): Promise<Date> {
  const newest = await newestSeriesChange(sql, viewer)
  if (newest !== null) return newest
  const [row] = await sql<{ updatedAt: Date | null }[]>`
    select max(l.updated_at) as "updatedAt" from library l where ${visibleLibrary(sql, viewer)}`
  return row?.updatedAt ?? new Date(0)
}
