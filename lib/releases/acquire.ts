// Acquired releases: after a scan, announced releases that present books now cover.

import type { Span } from '../sources/contract.ts'
import type { Transaction } from '../store/postgres/db.ts'
import { publishReleases } from './change-releases.ts'
import { isOwned, ownedBooks } from './owned.ts'

/**
 * Marks announced releases of tracked series that their books cover. For series without any, and thus for a
 * catalog without tracking, this is a single index lookup.
 */
export async function markAcquired(tx: Transaction, seriesIds: readonly string[]): Promise<void> {
  type Row = { id: string; seriesId: string; chapters: Span[] | null; volumes: Span[] | null }
  const announced = await tx<(Row & { libraryId: string })[]>`
    select r.id, r.series_id as "seriesId", s.library_id as "libraryId", r.chapters, r.volumes
    from release r
    join series_tracking t on t.series_id = r.series_id and t.tracked
    join series s on s.id = r.series_id
    where r.series_id = any(${seriesIds as string[]}::uuid[]) and r.state = 'announced'
      and (r.chapters is not null or r.volumes is not null)
    order by r.id
    for no key update of r`
  if (announced.length === 0) return
  const owned = await ownedBooks(tx, [...new Set(announced.map(release => release.seriesId))])
  const acquired = announced.filter(release => isOwned(owned.get(release.seriesId), release))
  if (acquired.length === 0) return
  const ids = acquired.map(release => release.id)
  await tx`
    with changed as (
      update release set state = 'marked_acquired' where id = any(${ids}::uuid[])
    )
    insert into release_change (release_id, from_state, to_state, reason)
    select id, 'announced', 'marked_acquired', 'scan' from unnest(${ids}::uuid[]) as id`
  await publishReleases(
    tx,
    acquired.map(({ seriesId, libraryId }) => ({ id: seriesId, libraryId })),
  )
}
