// External references: ids of series and books on other services, links to web pages about them, and ratings
// of series. SQL on the table `external_reference` is
// in this file and stated-references.ts.
import type { Fragment } from 'postgres'
import { Invalid, NotFound } from '../../base/errors.ts'
import { newId } from '../../base/id.ts'
import {
  component,
  maybe,
  nullable,
  type Static,
  Type,
  timestamp,
  uuid,
} from '../../base/schema.ts'
import type { Queryable, Transaction } from '../../store/postgres/db.ts'
import { isOneOf } from '../../store/postgres/ids.ts'
import type { Owner, OwnerKind } from '../owner.ts'

const ownerIds = { seriesId: maybe(uuid()), bookId: maybe(uuid()) }
const timestamps = { createdAt: timestamp(), updatedAt: timestamp() }

export const ExternalId = component('ExternalId', {
  id: uuid(),
  ...ownerIds,
  source: Type.String(),
  externalId: Type.String(),
  externalUrl: nullable(Type.String()),
  metadataHash: nullable(Type.String()),
  ...timestamps,
})
export type ExternalId = Static<typeof ExternalId>

export const ExternalLink = component('ExternalLink', {
  id: uuid(),
  ...ownerIds,
  sourceName: Type.String(),
  url: Type.String(),
  externalId: nullable(Type.String()),
  ...timestamps,
})
export type ExternalLink = Static<typeof ExternalLink>

/** A rating by the users of another service, or by critics. */
export const ExternalRating = component('ExternalRating', {
  id: uuid(),
  seriesId: uuid(),
  sourceName: Type.String(),
  rating: Type.Number({ minimum: 0, maximum: 100 }),
  voteCount: nullable(Type.Integer()),
  fetchedAt: timestamp({ description: 'When the rating was last set.' }),
  ...timestamps,
})
export type ExternalRating = Static<typeof ExternalRating>

export type NewExternalId = Pick<
  ExternalId,
  'source' | 'externalId' | 'externalUrl' | 'metadataHash'
>
export type NewExternalLink = Pick<ExternalLink, 'sourceName' | 'url' | 'externalId'>
export type NewExternalRating = Pick<ExternalRating, 'sourceName' | 'rating' | 'voteCount'>
/** An id found in a file beside the books of a series. */
export type EmbeddedId = { source: string; externalId: string; url: string | null }

export type ReferenceType = 'id' | 'link' | 'rating'
type Owned<T> = T & { ownerId: string }

// Per owner and type.
const maxReferences = 500

export const ownerColumn = (sql: Queryable, kind: OwnerKind) => sql(`${kind}_id`)

const commonColumns = (sql: Queryable, kind: OwnerKind) => sql`
  x.id, x.${ownerColumn(sql, kind)} as ${sql(`${kind}Id`)},
  x.${ownerColumn(sql, kind)} as "ownerId",
  x.created_at as "createdAt", x.updated_at as "updatedAt"`

const idColumns = (sql: Queryable, kind: OwnerKind) => sql`
  ${commonColumns(sql, kind)}, x.source, x.external_id as "externalId", x.url as "externalUrl",
  x.hash as "metadataHash"`

const linkColumns = (sql: Queryable, kind: OwnerKind) => sql`
  ${commonColumns(sql, kind)}, x.source as "sourceName", x.url, x.external_id as "externalId"`

const ratingColumns = (sql: Queryable) => sql`
  ${commonColumns(sql, 'series')}, x.source as "sourceName", x.rating, x.votes as "voteCount",
  x.updated_at as "fetchedAt"`

/** External ids by owner id, sorted by source, in one statement. */
export async function externalIds(sql: Queryable, kind: OwnerKind, ownerIds: readonly string[]) {
  const rows = await sql<Owned<ExternalId>[]>`
    select ${idColumns(sql, kind)} from external_reference x
    where x.kind = 'id' and ${isOneOf(sql, sql`${ownerColumn(sql, kind)}`, ownerIds)}
    order by source`
  return byOwner(rows)
}

/** External links by owner id, sorted by source, in one statement. */
export async function externalLinks(sql: Queryable, kind: OwnerKind, ownerIds: readonly string[]) {
  const rows = await sql<Owned<ExternalLink>[]>`
    select ${linkColumns(sql, kind)} from external_reference x
    where x.kind = 'link' and ${isOneOf(sql, sql`${ownerColumn(sql, kind)}`, ownerIds)}
    order by source`
  return byOwner(rows)
}

/** External ratings by series id, sorted by source, in one statement. */
export async function externalRatings(sql: Queryable, seriesIds: readonly string[]) {
  const rows = await sql<Owned<ExternalRating>[]>`
    select ${ratingColumns(sql)} from external_reference x
    where x.kind = 'rating' and ${isOneOf(sql, sql`series_id`, seriesIds)}
    order by source`
  return byOwner(rows)
}

/** Adds an id, or replaces the one of the same source. Throws Invalid when there are too many. */
export async function putExternalId(tx: Transaction, owner: Owner, value: NewExternalId) {
  const { source, externalId, externalUrl: url, metadataHash: hash } = value
  const columns = idColumns(tx, owner.kind)
  return await put<ExternalId>(tx, owner, { kind: 'id', source, externalId, url, hash }, columns)
}

/** Adds a link, or replaces the one of the same source. Throws Invalid when there are too many. */
export async function putExternalLink(tx: Transaction, owner: Owner, value: NewExternalLink) {
  const { sourceName: source, url, externalId } = value
  const columns = linkColumns(tx, owner.kind)
  return await put<ExternalLink>(tx, owner, { kind: 'link', source, url, externalId }, columns)
}

/** Adds a rating, or replaces the one of the same source. Throws Invalid when there are too many. */
export async function putExternalRating(tx: Transaction, owner: Owner, value: NewExternalRating) {
  const { sourceName: source, rating, voteCount: votes } = value
  const columns = ratingColumns(tx)
  return await put<ExternalRating>(tx, owner, { kind: 'rating', source, rating, votes }, columns)
}

type Values = {
  kind: ReferenceType
  source: string
  externalId?: string | null
  url?: string | null
  hash?: string | null
  rating?: number
  votes?: number | null
}

async function put<T>(tx: Transaction, owner: Owner, values: Values, returned: Fragment) {
  const { kind, source, externalId = null, url = null, hash = null } = values
  const { rating = null, votes = null } = values
  const column = ownerColumn(tx, owner.kind)
  const [row] = await tx<Owned<T>[]>`
    insert into external_reference as x
      (id, ${column}, kind, source, external_id, url, hash, rating, votes)
    values (${newId()}, ${owner.id}, ${kind}, ${source}, ${externalId}, ${url}, ${hash}, ${rating},
      ${votes})
    on conflict (${column}, kind, source) do update
    set external_id = excluded.external_id, url = excluded.url, hash = excluded.hash,
      rating = excluded.rating, votes = excluded.votes, updated_at = now()
    returning ${returned}`
  await checkCount(tx, owner, kind)
  return withoutOwnerId(row!)
}

/**
 * Stores ids found in files, replacing those of the same source; series whose ids are locked or were set by a
 * user are unchanged. Returns the series whose ids changed. One statement.
 */
export async function storeEmbeddedIds(
  tx: Transaction,
  ids: readonly (EmbeddedId & { seriesId: string })[],
): Promise<string[]> {
  if (ids.length === 0) return []
  const rows = await tx<{ seriesId: string }[]>`
    insert into external_reference as x (kind, series_id, source, external_id, url)
    select distinct on (e."seriesId", source) 'id', e."seriesId", source, "externalId", url
    from jsonb_to_recordset(${tx.json(ids as never)})
      as e("seriesId" uuid, source text, "externalId" text, url text)
    join series s on s.id = e."seriesId"
    where not 'external_ids' = any(s.locks)
      and s.provenance->>'external_ids' is distinct from 'user'
    order by e."seriesId", source
    on conflict (series_id, kind, source) do update
    set external_id = excluded.external_id, url = excluded.url
    where (x.external_id, x.url) is distinct from (excluded.external_id, excluded.url)
    returning x.series_id as "seriesId"`
  return rows.map(row => row.seriesId)
}

type ReferenceName = {
  type: ReferenceType
  /** Id of the reference, or its source. */
  name: string
}

/** Throws NotFound. */
export async function deleteExternalReference(
  tx: Transaction,
  { kind, id }: Owner,
  { type, name }: ReferenceName,
) {
  const { count } = await tx`
    delete from external_reference
    where kind = ${type} and ${ownerColumn(tx, kind)} = ${id}
      and (id::text = ${name.toLowerCase()} or source = ${name})`
  if (count === 0) throw new NotFound(`External ${type} not found`)
}

export async function deleteAllExternalReferences(
  tx: Transaction,
  { kind, ids }: { kind: OwnerKind; ids: readonly string[] },
  types: readonly ReferenceType[],
): Promise<void> {
  await tx`
    delete from external_reference
    where kind = any(${types as ReferenceType[]})
      and ${ownerColumn(tx, kind)} = any(${ids as string[]}::uuid[])`
}

/** Relation with columns series_id, source and external_id. */
export const seriesExternalIds = (sql: Queryable): Fragment =>
  sql`(select series_id, source, external_id from external_reference
    where kind = 'id' and series_id is not null)`

async function checkCount(tx: Transaction, { kind, id }: Owner, type: ReferenceType) {
  const [row] = await tx<{ count: number }[]>`
    select count(*) from external_reference
    where kind = ${type} and ${ownerColumn(tx, kind)} = ${id}`
  if (row!.count > maxReferences)
    throw new Invalid(`The limit is ${maxReferences} external ${type}s`, { limit: maxReferences })
}

function byOwner<T extends { ownerId: string }>(rows: readonly T[]) {
  const owners = Map.groupBy(rows, row => row.ownerId)
  return new Map([...owners].map(([ownerId, group]) => [ownerId, group.map(withoutOwnerId)]))
}

function withoutOwnerId<T extends { ownerId: string }>({ ownerId, ...row }: T): Omit<T, 'ownerId'> {
  return row
}
