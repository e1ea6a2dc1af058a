// Feed context: what feed writers need besides the feed.
import type { Sql } from 'postgres'
import { type Viewer, visibleLibrary } from '../../accounts/viewer.ts'
import { newestSeriesChange } from '../../list/newest-change.ts'
import type { Links } from '../publication/links.ts'

export type FeedContext = {
  links: Links
  /** Name of this server. */
  serverName: string
  /** Permissions of the caller: links it may not follow are left out. */
  allows: { pageStreaming: boolean; progressSync: boolean }
  /** Timestamp for feeds that contain nothing with a timestamp of its own. */
  catalogUpdatedAt: Date
}

/** When a visible series last changed, otherwise when a library did; 1970 if there are none. */
export async function catalogUpdatedAt(sql: Sql, viewer: Viewer): Promise<Date> {
  const newest = await newestSeriesChange(sql, viewer)
  if (newest !== null) return newest
  const [row] = await sql<{ updatedAt: Date | null }[]>`
    select max(l.updated_at) as "updatedAt" from library l where ${visibleLibrary(sql, viewer)}`
  return row?.updatedAt ?? new Date(0)
}
