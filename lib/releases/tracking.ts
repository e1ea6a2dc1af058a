// Tracking of series: whether and which releases are looked for, and what is already known.
import { type Viewer, visibleSeries } from '../accounts/viewer.ts'
import { NotFound } from '../base/errors.ts'
import {
  component,
  list,
  nullable,
  record,
  type Static,
  Type,
  timestamp,
  uuid,
} from '../base/schema.ts'
import { fromSeriesForUpdate } from '../catalog/row-locks.ts'
import { publish, seriesEvents } from '../store/event/publish.ts'
import type { Queryable, Sql, Transaction } from '../store/postgres/db.ts'
import { retryOnDeadlock } from '../store/postgres/retry-on-deadlock.ts'
import { insertAliases, storableAlias } from './aliases.ts'

const VolumeChapterMap = Type.Record(
  Type.String({ pattern: '^\\d{1,6}(?:\\.\\d{1,3})?$' }),
  record({ start: Type.Number(), end: Type.Number() }),
  {
    component: 'VolumeChapterMap',
    description:
      'Chapters of each volume, so that a book that is volume 3 also covers its chapters. The limit is 2,000 volumes.',
    maxProperties: 2_000,
  },
)

/** The fields that a request may change. */
export const trackingFields = {
  tracked: Type.Boolean(),
  trackChapters: Type.Boolean(),
  trackVolumes: Type.Boolean(),
  latestKnownChapter: nullable(Type.Number({ minimum: 0, maximum: 1e9 })),
  latestKnownVolume: nullable(Type.Number({ minimum: 0, maximum: 1e9 })),
  volumeChapterMap: nullable(VolumeChapterMap),
  pollIntervalOverrideS: nullable(
    Type.Integer({
      minimum: 60,
      maximum: 31_536_000,
      description:
        'Seconds between polls of sources that are read series by series; null for every poll.',
    }),
  ),
  confidenceThresholdOverride: nullable(
    Type.Number({ minimum: 0, maximum: 1, description: 'Null for 0.7.' }),
  ),
  languages: nullable(
    list(Type.String({ minLength: 1, maxLength: 50, pattern: '^[^\\u0000]*$' }), {
      maxItems: 50,
      description: 'Null for the setting `release_tracking.default_languages`.',
    }),
  ),
}

export const Tracking = component('SeriesTracking', {
  seriesId: uuid(),
  ...trackingFields,
  isFollowed: Type.Boolean({ description: 'Whether the account follows the series.' }),
  createdAt: nullable(timestamp({ description: 'Null if the series was never tracked.' })),
  updatedAt: nullable(timestamp()),
})
export type Tracking = Static<typeof Tracking>
type TrackingChanges = Partial<
  Omit<Tracking, 'seriesId' | 'isFollowed' | 'createdAt' | 'updatedAt'>
>

/** Returns defaults for a series that was never tracked. Throws NotFound. */
export async function trackingOf(
  sql: Queryable,
  viewer: Viewer,
  seriesId: string,
): Promise<Tracking> {
  const [row] = await sql<Tracking[]>`
    select s.id as "seriesId", coalesce(t.tracked, false) as tracked,
      coalesce(t.track_chapters, true) as "trackChapters",
      coalesce(t.track_volumes, true) as "trackVolumes",
      t.latest_known_chapter as "latestKnownChapter", t.latest_known_volume as "latestKnownVolume",
      t.volume_chapter_map as "volumeChapterMap",
      t.poll_interval_override_s as "pollIntervalOverrideS",
      t.confidence_threshold_override as "confidenceThresholdOverride", t.languages,
      exists (select from series_follow f
        where f.series_id = s.id and f.account_id = ${viewer.accountId}) as "isFollowed",
      t.created_at as "createdAt", t.updated_at as "updatedAt"
    from series s left join series_tracking t on t.series_id = s.id
    where s.id = ${seriesId} and ${visibleSeries(sql, viewer)}`
  if (!row) throw new NotFound('Series not found')
  return row
}

/** `latestKnownChapter` as `latest_known_chapter`. */
const columnOf = (name: string) => name.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`)

/** Absent fields are unchanged. Throws NotFound. */
export async function updateTracking(
  sql: Sql,
  viewer: Viewer,
  { seriesId, changes }: { seriesId: string; changes: TrackingChanges },
): Promise<Tracking> {
  return await retryOnDeadlock(sql, async tx => {
    const [series] = await lockForTracking(tx, viewer, [seriesId])
    if (!series) throw new NotFound('Series not found')
    if (changes.tracked === true) await startTracking(tx, [series])
    const names = (Object.keys(trackingFields) as (keyof TrackingChanges)[]).filter(
      name => changes[name] !== undefined,
    )
    if (names.length > 0) {
      const assignments = names
        .map(name => {
          const value = changes[name]
          const parameter =
            name === 'volumeChapterMap' && value !== null ? tx.json(value as never) : value
          return tx`${tx(columnOf(name))} = ${parameter as unknown as string}`
        })
        .reduce((all, one) => tx`${all}, ${one}`)
      await tx`
        insert into series_tracking (series_id) values (${seriesId}) on conflict do nothing`
      await tx`
        update series_tracking set ${assignments}, updated_at = now() where series_id = ${seriesId}`
      await publish(tx, seriesEvents('series_updated', [series], { fields: ['tracking'] }))
    }
    return await trackingOf(tx, viewer, seriesId)
  })
}

/** Tracks visible series, or stops tracking them. Returns how many there are. */
export async function setTracked(
  sql: Sql,
  viewer: Viewer,
  { seriesIds, tracked }: { seriesIds: readonly string[]; tracked: boolean },
): Promise<number> {
  return await retryOnDeadlock(sql, async tx => {
    const series = await lockForTracking(tx, viewer, seriesIds)
    const ids = series.map(({ id }) => id)
    if (tracked) await startTracking(tx, series)
    const changed = await tx<{ id: string }[]>`
      update series_tracking set tracked = ${tracked}, updated_at = now()
      where series_id = any(${ids}::uuid[]) and tracked <> ${tracked}
      returning series_id as id`
    const changedIds = new Set(changed.map(({ id }) => id))
    const events = series.filter(({ id }) => changedIds.has(id))
    await publish(tx, seriesEvents('series_updated', events, { fields: ['tracking'] }))
    return series.length
  })
}

/** `Name (2006)` is also known as `Name`: the year in a release title is often that of a volume. */
function namesOf(title: string): string[] {
  const name = storableAlias(title)
  return [name, name.replace(/\s*\((?:19|20)\d\d\)$/, '')]
}

type LockedSeries = { id: string; libraryId: string; titles: string[] }

async function lockForTracking(tx: Transaction, viewer: Viewer, ids: readonly string[]) {
  return await tx<LockedSeries[]>`
    select s.id, s.library_id as "libraryId",
      array_remove(array[s.title, s.title_sort, s.name], null) ||
        array(select t->>'title' from jsonb_array_elements(s.alternate_titles) t) as titles
    ${fromSeriesForUpdate(tx, viewer, ids)}`
}

/**
 * For series not tracked yet: their titles become aliases, the latest chapter and volume are taken from their
 * books, and what the books state is tracked, or both if they state neither.
 */
async function startTracking(tx: Transaction, series: readonly LockedSeries[]): Promise<void> {
  const started = await tx<{ id: string }[]>`
    insert into series_tracking as t (series_id, track_chapters, track_volumes,
      latest_known_chapter, latest_known_volume)
    select s.id, b.chapter is not null or b.volume is null, b.volume is not null or b.chapter is null,
      b.chapter, b.volume
    from unnest(${series.map(({ id }) => id)}::uuid[]) as s(id)
    cross join lateral (
      select max(chapter) as chapter, max(volume) as volume from book
      where series_id = s.id and missing_at is null
    ) b
    on conflict (series_id) do update
    set latest_known_chapter = coalesce(t.latest_known_chapter, excluded.latest_known_chapter),
      latest_known_volume = coalesce(t.latest_known_volume, excluded.latest_known_volume)
    where not t.tracked
    returning t.series_id as id`
  const ids = new Set(started.map(({ id }) => id))
  const aliases = series
    .filter(({ id }) => ids.has(id))
    .flatMap(({ id, titles }) =>
      [...new Set(titles.flatMap(namesOf))].map(alias => ({
        seriesId: id,
        alias,
        source: 'metadata',
      })),
    )
  const changed = new Set(await insertAliases(tx, aliases))
  const events = series.filter(({ id }) => changed.has(id))
  await publish(tx, seriesEvents('series_updated', events, { fields: ['aliases'] }))
}
