// Release record of the API: an entry of the release ledger, its states and their history.
import { type Viewer, visibleSeries } from '../accounts/viewer.ts'
import { NotFound } from '../base/errors.ts'
import {
  component,
  json,
  list,
  nullable,
  oneOf,
  type Static,
  Type,
  timestamp,
  uuid,
} from '../base/schema.ts'
import { mediaUrlKinds } from '../sources/contract.ts'
import type { Queryable, Sql } from '../store/postgres/db.ts'

export const releaseStates = ['announced', 'dismissed', 'marked_acquired', 'hidden'] as const
export type ReleaseState = (typeof releaseStates)[number]

const aliases: Readonly<Record<string, ReleaseState>> = { new: 'announced', ignored: 'hidden' }
/** Names that requests may use for a state. */
export const stateNames = [...releaseStates, ...Object.keys(aliases)]

/** The state for one of `stateNames`. */
export const stateNamed = (name: string): ReleaseState => aliases[name] ?? (name as ReleaseState)

/** The state to which a bulk action sets releases; `delete` removes them. */
export const actionStates = {
  dismiss: 'dismissed',
  'mark-acquired': 'marked_acquired',
  ignore: 'hidden',
  reset: 'announced',
} as const satisfies Record<string, ReleaseState>
export const releaseActions = [
  ...(Object.keys(actionStates) as (keyof typeof actionStates)[]),
  'delete',
] as const

/**
 * Why a release has a state: it was announced and is wanted; a present book covers it; it has only chapters (or
 * only volumes), which are not tracked; a user requested it; a scan found a book that covers it.
 */
export const changeReasons = ['announced', 'owned', 'not_tracked', 'request', 'scan'] as const

const spans = (of: string) =>
  nullable(
    list(component('ReleaseSpan', { start: Type.Number(), end: Type.Number() }), {
      description: `Spans of ${of}, including both ends; null if the source states none.`,
    }),
  )

export const Release = component('Release', {
  id: uuid(),
  seriesId: uuid(),
  seriesTitle: Type.String(),
  sourceId: uuid({ description: 'Release source that announced it.' }),
  externalReleaseId: Type.String({ description: 'Identifies the release in its source.' }),
  payloadUrl: Type.String({ description: 'Where the release is offered, usually a web page.' }),
  mediaUrl: nullable(Type.String({ description: 'Direct download.' })),
  mediaUrlKind: nullable(oneOf(mediaUrlKinds)),
  infoHash: nullable(Type.String()),
  groupOrUploader: nullable(Type.String()),
  language: nullable(Type.String()),
  chapters: spans('chapters'),
  volumes: spans('volumes'),
  formatHints: Type.Record(Type.String(), json()),
  metadata: Type.Record(Type.String(), json(), {
    description: 'Data as stated by the source; `title` is the title of the release.',
  }),
  confidence: Type.Number({
    description: 'Confidence that the release belongs to the series, from 0 to 1.',
  }),
  state: oneOf(releaseStates, { description: 'The same for all accounts.' }),
  isSeen: Type.Boolean({ description: 'Whether the account has seen or dismissed it.' }),
  isDismissed: Type.Boolean({ description: 'Whether the account has dismissed it.' }),
  releasedAt: nullable(timestamp()),
  observedAt: timestamp({ description: 'When a poll found the release.' }),
  createdAt: timestamp(),
})
export type Release = Static<typeof Release>

/** The releases with these ids, in this order; those of hidden series are left out. One statement. */
export async function releasesByIds(
  sql: Queryable,
  viewer: Viewer,
  ids: readonly string[],
): Promise<Release[]> {
  if (ids.length === 0) return []
  const rows = await sql<Release[]>`
    select r.id, r.series_id as "seriesId", s.title as "seriesTitle", r.source_id as "sourceId",
      r.external_release_id as "externalReleaseId", r.payload_url as "payloadUrl",
      r.media_url as "mediaUrl", r.media_url_kind as "mediaUrlKind", r.info_hash as "infoHash",
      r.group_or_uploader as "groupOrUploader", r.language, r.chapters, r.volumes,
      r.format_hints as "formatHints", r.metadata, r.confidence, r.state,
      m.release_id is not null as "isSeen", m.dismissed_at is not null as "isDismissed",
      r.released_at as "releasedAt", r.observed_at as "observedAt", r.created_at as "createdAt"
    from unnest(${ids as string[]}::uuid[]) with ordinality as requested(id, place)
    join release r on r.id = requested.id
    join series s on s.id = r.series_id
    left join release_mark m on m.release_id = r.id and m.account_id = ${viewer.accountId}
    where ${visibleSeries(sql, viewer)}
    order by requested.place`
  return [...rows]
}

export const releaseNotFound = () => new NotFound('Release not found')

/** Throws NotFound for an unknown release, or one whose series is hidden from the viewer. */
export async function releaseById(sql: Queryable, viewer: Viewer, id: string): Promise<Release> {
  const [release] = await releasesByIds(sql, viewer, [id])
  if (!release) throw releaseNotFound()
  return release
}

export const ReleaseChange = component('ReleaseChange', {
  fromState: nullable(oneOf(releaseStates, { description: 'Null for the initial state.' })),
  toState: oneOf(releaseStates),
  userId: nullable(uuid({ description: 'The user who changed it; null for the server.' })),
  reason: oneOf(changeReasons),
  details: nullable(
    Type.Record(Type.String(), json(), {
      description: 'First entry only: how the series was found (`by`).',
    }),
  ),
  at: timestamp(),
})
export type ReleaseChange = Static<typeof ReleaseChange>

/** All states of a release, oldest first. Throws NotFound. */
export async function historyOf(sql: Sql, viewer: Viewer, id: string): Promise<ReleaseChange[]> {
  const rows = await sql<ReleaseChange[]>`
    select c.from_state as "fromState", c.to_state as "toState", c.account_id as "userId",
      c.reason, c.details, c.created_at as at
    from release r
    join series s on s.id = r.series_id
    join release_change c on c.release_id = r.id
    where r.id = ${id} and ${visibleSeries(sql, viewer)}
    order by c.id`
  if (rows.length === 0) throw releaseNotFound()
  return [...rows]
}
