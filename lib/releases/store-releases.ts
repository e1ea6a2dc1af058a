// Release ledger writer: stores a page of a source with its cursor in one transaction, so that a poll interrupted
// at any moment neither loses nor duplicates anything.
import { newId } from '../base/id.ts'
import { lockSeries } from '../catalog/row-locks.ts'
import type { ReleaseItem } from '../sources/contract.ts'
import type { Sql, Transaction } from '../store/postgres/db.ts'
import { retryOnDeadlock } from '../store/postgres/retry-on-deadlock.ts'
import { publishReleases } from './change-releases.ts'
import type { Match } from './match.ts'
import { isOwned, normalizedSpans, ownedBooks } from './owned.ts'
import type { ReleaseState } from './release-record.ts'

type PolledPage = {
  items: readonly ReleaseItem[]
  /** One for each item. */
  matches: readonly (Match | null)[]
  cursor: unknown
  /** The last series that was polled, for lists that are read series by series. */
  after: string | null
}
export type StoredPage = { added: number; announced: number }
export type Poll = { releaseSourceId: string; pollId: string; defaultLanguages: readonly string[] }

const batch = 1_000

/** Null if a later poll has taken over, or the source was disabled or deleted: nothing was stored. */
export async function storePage(
  sql: Sql,
  { releaseSourceId, pollId, defaultLanguages }: Poll,
  { items, matches, cursor, after }: PolledPage,
): Promise<StoredPage | null> {
  const matched = items.flatMap((item, i) => {
    const match = matches[i]
    return match ? [{ item, match }] : []
  })
  return await retryOnDeadlock(sql, async tx => {
    const [source] = await tx<{ pluginId: string }[]>`
      update release_source
      set cursor = ${tx.json((cursor ?? null) as never)}, poll_after = ${after}
      where id = ${releaseSourceId} and poll_id = ${pollId} and enabled
      returning source_id as "pluginId"`
    if (!source) return null
    const stored: StoredPage = { added: 0, announced: 0 }
    for (let start = 0; start < matched.length; start += batch) {
      const page = matched.slice(start, start + batch)
      const added = await storeBatch(tx, { releaseSourceId, defaultLanguages, ...source }, page)
      stored.added += added.length
      stored.announced += added.filter(({ state }) => state === 'announced').length
    }
    return stored
  })
}

type Matched = { item: ReleaseItem; match: Match }
type Series = { id: string; languages: string[] | null } & Record<
  'trackChapters' | 'trackVolumes',
  boolean
>
type Announcement = {
  id: string
  seriesId: string
  libraryId: string
  seriesTitle: string
  language: string | null
  chapter: number | null
  volume: number | null
}
type Added = Announcement & { state: ReleaseState }

async function storeBatch(
  tx: Transaction,
  source: { releaseSourceId: string; pluginId: string; defaultLanguages: readonly string[] },
  page: readonly Matched[],
): Promise<Added[]> {
  const ids = [...new Set(page.map(({ match }) => match.seriesId))]
  // The end of a scan locks them too, and then looks for announced releases covered by its books.
  await lockSeries(tx, ids)
  const tracked = await tx<Series[]>`
    select series_id as id, track_chapters as "trackChapters", track_volumes as "trackVolumes",
      languages
    from series_tracking where series_id = any(${ids}::uuid[])`
  const seriesOf = new Map(tracked.map(series => [series.id, series]))
  const owned = await ownedBooks(tx, ids)
  const rows = page.map(({ item, match }) => {
    const spans = {
      chapters: normalizedSpans(item.chapters),
      volumes: normalizedSpans(item.volumes),
    }
    const reason = isUntracked(seriesOf.get(match.seriesId), spans)
      ? 'not_tracked'
      : isOwned(owned.get(match.seriesId), spans)
        ? 'owned'
        : 'announced'
    const state: ReleaseState = reason === 'announced' ? 'announced' : 'hidden'
    return rowOf(item, match, { ...spans, reason, state })
  })
  const added = await insertRows(tx, source.releaseSourceId, rows)
  await advanceLatest(tx, added, seriesOf, source.defaultLanguages)
  await publishReleases(
    tx,
    added.map(({ seriesId, libraryId }) => ({ id: seriesId, libraryId })),
  )
  await publishAnnouncements(
    tx,
    { sourceId: source.releaseSourceId, pluginId: source.pluginId },
    added.filter(({ state }) => state === 'announced'),
  )
  return added
}

type Spans = Record<'chapters' | 'volumes', ReturnType<typeof normalizedSpans>>

/** Whether everything in the release is of a kind that is not tracked. */
function isUntracked(series: Series | undefined, { chapters, volumes }: Spans): boolean {
  if (!series || (!chapters && !volumes)) return false
  return !((chapters && series.trackChapters) || (volumes && series.trackVolumes))
}

function rowOf(
  item: ReleaseItem,
  { seriesId, confidence, reason: details }: Match,
  decided: Spans & { reason: string; state: ReleaseState },
) {
  const hasMedia = item.mediaUrl !== null && item.mediaUrlKind !== null
  return {
    id: newId(),
    seriesId,
    externalReleaseId: item.externalReleaseId,
    payloadUrl: item.payloadUrl,
    mediaUrl: hasMedia ? item.mediaUrl : null,
    mediaUrlKind: hasMedia ? item.mediaUrlKind : null,
    infoHash: item.infoHash?.toLowerCase() ?? null,
    groupOrUploader: item.groupOrUploader,
    language: item.language,
    formatHints: item.formatHints,
    metadata: { title: item.title, ...item.metadata },
    releasedAt: item.releasedAt,
    confidence,
    details,
    ...decided,
  }
}

/** A release that the ledger already has, by id or info hash, is unchanged. */
async function insertRows(
  tx: Transaction,
  sourceId: string,
  rows: readonly ReturnType<typeof rowOf>[],
): Promise<Added[]> {
  return await tx<Added[]>`
    with item as materialized (
      select i.*, s.library_id, s.title as series_title
      from jsonb_to_recordset(${tx.json(rows as never)}) as i(id uuid, "seriesId" uuid,
        "externalReleaseId" text, "payloadUrl" text, "mediaUrl" text, "mediaUrlKind" text,
        "infoHash" text, "groupOrUploader" text, language text, chapters jsonb, volumes jsonb,
        "formatHints" jsonb, metadata jsonb, confidence double precision, "releasedAt" timestamptz,
        state text, reason text, details jsonb)
      join series s on s.id = i."seriesId"
    ), added as (
      insert into release (id, source_id, series_id, external_release_id, state, payload_url, media_url,
        media_url_kind, info_hash, group_or_uploader, language, chapters, volumes, format_hints,
        metadata, confidence, released_at)
      select id, ${sourceId}, "seriesId", "externalReleaseId", state, "payloadUrl", "mediaUrl",
        "mediaUrlKind", "infoHash", "groupOrUploader", language, nullif(chapters, 'null'),
        nullif(volumes, 'null'), "formatHints", metadata, confidence, "releasedAt"
      from item
      order by "infoHash", "externalReleaseId"
      on conflict do nothing
      returning id, last_chapter, last_volume
    ), recorded as (
      insert into release_change (release_id, to_state, reason, details)
      select id, state, reason, details from item where id in (select id from added)
    )
    select i.id, i."seriesId", i.library_id as "libraryId", i.series_title as "seriesTitle",
      i.state, i.language, a.last_chapter as chapter, a.last_volume as volume
    from added a join item i on i.id = a.id
    order by i.id`
}

/** The latest known chapter and volume only increase, by releases in a language that is followed. */
async function advanceLatest(
  tx: Transaction,
  added: readonly Added[],
  seriesOf: ReadonlyMap<string, Series>,
  defaultLanguages: readonly string[],
): Promise<void> {
  const followed = added.filter(({ seriesId, language }) => {
    const languages = seriesOf.get(seriesId)?.languages ?? defaultLanguages
    return language !== null && languages.includes(language)
  })
  if (followed.length === 0) return
  const rows = followed.map(({ seriesId, chapter, volume }) => ({ seriesId, chapter, volume }))
  await tx`
    with latest as (
      select "seriesId" as id, max(chapter) as chapter, max(volume) as volume
      from jsonb_to_recordset(${tx.json(rows as never)})
        as r("seriesId" uuid, chapter double precision, volume double precision)
      group by "seriesId"
    )
    update series_tracking t
    set latest_known_chapter = case when track_chapters
          then greatest(latest_known_chapter, latest.chapter) else latest_known_chapter end,
      latest_known_volume = case when track_volumes
          then greatest(latest_known_volume, latest.volume) else latest_known_volume end
    from latest
    where t.series_id = latest.id
      and (track_chapters and latest.chapter > coalesce(latest_known_chapter, '-infinity')
        or track_volumes and latest.volume > coalesce(latest_known_volume, '-infinity'))`
}

// Keeps a row small enough to be sent to a client in one piece.
const maxPerRow = 200

/** One event each; accounts receive those of series that they see. */
async function publishAnnouncements(
  tx: Transaction,
  source: { sourceId: string; pluginId: string },
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
  source: { sourceId: string; pluginId: string },
) {
  return {
    ...{ ledgerId: id, seriesId, seriesTitle, libraryId, ...source, language },
    ...(chapter === null ? {} : { chapter }),
    ...(volume === null ? {} : { volume }),
  }
}
