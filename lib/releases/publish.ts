// Events of the release ledger: a release was announced, a release source was polled.
import type { Queryable } from '../store/postgres/db.ts'

export type Announcement = {
  id: string
  seriesId: string
  libraryId: string
  seriesTitle: string
  language: string | null
  chapter: number | null
  volume: number | null
}
/** A release source, and the source it belongs to. */
type ReleaseSourceIds = { sourceId: string; pluginId: string }

// Keeps a row small enough to be sent to a client in one piece.
const maxPerRow = 200

/** One event each; accounts receive those of series that they see. */
export async function publishAnnouncements(
  tx: Queryable,
  source: ReleaseSourceIds,
  releases: readonly Announcement[],
): Promise<void> {
  if (releases.length === 0) return
  const rows = [...Map.groupBy(releases, release => release.libraryId)].flatMap(
    ([libraryId, group]) =>
      Array.from({ length: Math.ceil(group.length / maxPerRow) }, (_, i) => {
        const part = group.slice(i * maxPerRow, (i + 1) * maxPerRow)
        return {
          libraryId,
          count: part.length,
          seriesIds: part.map(({ seriesId }) => seriesId),
          data: { events: part.map(release => announcementOf(release, source)) },
        }
      }),
  )
  await tx`
    insert into event (type, count, library_id, series_ids, data)
    select 'release_announced', count, "libraryId", "seriesIds", data
    from jsonb_to_recordset(${tx.json(rows as never)})
      as r(count integer, "libraryId" uuid, "seriesIds" uuid[], data jsonb)`
}

function announcementOf(
  { id, seriesId, libraryId, seriesTitle, language, chapter, volume }: Announcement,
  source: ReleaseSourceIds,
) {
  return {
    ...{ ledgerId: id, seriesId, seriesTitle, libraryId, ...source, language },
    ...(chapter === null ? {} : { chapter }),
    ...(volume === null ? {} : { volume }),
  }
}

/** For accounts that manage sources. */
export async function publishPolled(
  tx: Queryable,
  source: ReleaseSourceIds & { hadError: boolean },
): Promise<void> {
  await tx`
    insert into event (type, count, data) values ('release_source_polled', 1, ${tx.json(source)})`
}
