// What requests about matches have in common: what they depend on, and the source that they name.
import type { Viewer } from '../../accounts/viewer.ts'
import { NotFound } from '../../base/errors.ts'
import { ErrorBody, uuid } from '../../base/schema.ts'
import { coverFolders } from '../../catalog/cover/cover-files.ts'
import { createCover } from '../../catalog/cover/routes/covers.ts'
import { type Owner, requireOwner } from '../../catalog/owner.ts'
import type { Deps } from '../../http/deps.ts'
import type { FetchedBook, FetchedSeries } from '../../sources/contract.ts'
import { describedSource, fetchFromSource, type MatchDeps, type MatchSource } from '../matching.ts'
import { matchingOf } from '../matching-settings.ts'

export const sourceId = uuid({
  aliases: ['pluginId', 'plugin_id'],
  description: 'Source id from GET /metadata/sources.',
})
export const failures = { 502: ErrorBody }

export function matchDepsOf(
  { viewer, signal }: { viewer: Viewer; signal: AbortSignal },
  deps: Deps,
): MatchDeps {
  const { sql, sources, config } = deps
  const client = { accountId: viewer.accountId, signal }
  return {
    ...{ sql, sources, viewer, signal, folders: coverFolders(config.data_dir) },
    makeCover: original => createCover(original, { ...deps, client }),
  }
}

/** Throws NotFound. */
export async function matchSource(
  { sql, sources }: Deps,
  id: string,
  signal: AbortSignal,
): Promise<MatchSource> {
  const row = await describedSource({ sql, sources, signal }, id)
  return { row, matching: await matchingOf(sql, id) }
}

type Fetch = { owner: Owner; source: MatchSource; externalId: string }

/** Throws NotFound for a hidden series or book, and for one that the source does not have. */
export async function fetchFor(
  deps: MatchDeps,
  { owner, source, externalId }: Fetch,
): Promise<FetchedSeries | FetchedBook> {
  await requireOwner(deps.sql, { viewer: deps.viewer, owner })
  const fetched = await fetchFromSource(deps, source, { kind: owner.kind, externalId })
  if (!fetched) throw new NotFound(`The source has no such ${owner.kind}`)
  return fetched
}
