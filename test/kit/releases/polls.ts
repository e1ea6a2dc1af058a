// Releases for tests: sources in memory, rows of sources, items as sources state them.
import { newId } from '../../../lib/base/id.ts'
import { pollReleases } from '../../../lib/releases/job/poll.ts'
import type {
  ReleaseItem,
  ReleasePage,
  ReleaseQuery,
  Source,
} from '../../../lib/sources/contract.ts'
import type { Sources } from '../../../lib/sources/open.ts'
import type { Sql } from '../../../lib/store/postgres/db.ts'

/** An item with defaults for what a test is not about. */
export const item = (
  values: Partial<ReleaseItem> & { externalReleaseId: string },
): ReleaseItem => ({
  title: 'A title',
  payloadUrl: `https://example.org/${encodeURIComponent(values.externalReleaseId)}`,
  mediaUrl: null,
  mediaUrlKind: null,
  infoHash: null,
  groupOrUploader: null,
  language: 'en',
  chapters: null,
  volumes: null,
  formatHints: {},
  metadata: {},
  seriesTitles: [],
  seriesIds: {},
  releasedAt: null,
  ...values,
})

type ListReleases = (query: ReleaseQuery) => ReleasePage | Promise<ReleasePage>

/** Sources that all answer as `listReleases` does. */
export function sourcesOf(listReleases: ListReleases): Sources {
  const source: Source = {
    describe: () => Promise.reject(new Error('not called')),
    listReleases: async query => await listReleases(query),
  }
  return { open: () => source, unreadable: () => null, close: async () => {} } as unknown as Sources
}

/** An enabled source with one list; returns the ids of both. */
export async function insertReleaseSource(
  sql: Sql,
  { kind = 'rss-uploader', name = `source-${newId()}` } = {},
) {
  const [sourceId, id] = [newId(), newId()]
  await sql`
    insert into source (id, type, name, display_name, config, enabled)
    values (${sourceId}, 'feed', ${name}, ${name}, '{"url": "http://192.0.2.1/feed"}', true)`
  await sql`
    insert into release_source (id, source_id, key, kind, display_name, enabled)
    values (${id}, ${sourceId}, 'main', ${kind}, ${`Releases of ${name}`}, true)`
  return { sourceId, id }
}

/** Polls a release source once, as its job does. */
export function poll(sql: Sql, id: string, answer: ListReleases) {
  const control = { isStopped: () => false, signal: new AbortController().signal }
  return pollReleases({ sql, sources: sourcesOf(answer) }, id, control)
}

/** Polls a list of which one page has all items. */
export const pollItems = (sql: Sql, id: string, items: ReleaseItem[]) =>
  poll(sql, id, () => ({ items, cursor: { seen: items.length }, isLast: true }))
