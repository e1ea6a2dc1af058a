// Ids of series and books at services elsewhere, and links to pages about them.
import type { Sql, TransactionSql } from 'postgres'
import { Invalid, NotFound } from '../../errors.ts'
import { newId } from '../../id.ts'
import { maybe, nullable, record, type Static, Type, timestamp, uuid } from '../../schema.ts'

type Db = Sql | TransactionSql

export type OwnerKind = 'series' | 'book'
export type Owner = { kind: OwnerKind; id: string }

const owned = { seriesId: maybe(uuid()), bookId: maybe(uuid()) }
const dated = { createdAt: timestamp(), updatedAt: timestamp() }

export const ExternalId = record(
  {
    id: uuid(),
    ...owned,
    source: Type.String(),
    externalId: Type.String(),
    externalUrl: nullable(Type.String()),
    metadataHash: nullable(Type.String()),
    ...dated,
  },
  { component: 'ExternalId' },
)
export type ExternalId = Static<typeof ExternalId>

export const ExternalLink = record(
  {
    id: uuid(),
    ...owned,
    sourceName: Type.String(),
    url: Type.String(),
    externalId: nullable(Type.String()),
    ...dated,
  },
  { component: 'ExternalLink' },
)
export type ExternalLink = Static<typeof ExternalLink>

export type NewId = Pick<ExternalId, 'source' | 'externalId' | 'externalUrl' | 'metadataHash'>
export type NewLink = Pick<ExternalLink, 'sourceName' | 'url' | 'externalId'>

// Of one series or book.
const most = 500

const columnOf = (kind: OwnerKind) => `${kind}_id`
const memberOf = (kind: OwnerKind) => `${kind}Id`

/** Ids of many owners by owner, each by source. One statement. */
export async function externalIds(sql: Db, kind: OwnerKind, ids: readonly string[]) {
  const rows = await sql<(ExternalId & { owner: string })[]>`
    select ${idColumns(sql, kind)} from ${sql(`${kind}_external_id`)} x
    where ${sql(columnOf(kind))} = any(${ids as string[]}::uuid[])
    order by source`
  return byOwner(rows)
}

/** Links of many owners by owner, each by source. One statement. */
export async function externalLinks(sql: Db, kind: OwnerKind, ids: readonly string[]) {
  const rows = await sql<(ExternalLink & { owner: string })[]>`
    select ${linkColumns(sql, kind)} from ${sql(`${kind}_link`)} x
    where ${sql(columnOf(kind))} = any(${ids as string[]}::uuid[])
    order by source`
  return byOwner(rows)
}

/** Adds an id, or changes that of the same source. Throws Invalid when there are too many. */
export async function putExternalId(tx: TransactionSql, { kind, id }: Owner, given: NewId) {
  const [row] = await tx<(ExternalId & { owner: string })[]>`
    insert into ${tx(`${kind}_external_id`)} as x
      (id, ${tx(columnOf(kind))}, source, external_id, url, hash)
    values (${newId()}, ${id}, ${given.source}, ${given.externalId}, ${given.externalUrl},
      ${given.metadataHash})
    on conflict (${tx(columnOf(kind))}, source) do update
    set external_id = excluded.external_id, url = excluded.url, hash = excluded.hash,
      updated_at = now()
    returning ${idColumns(tx, kind)}`
  await refuseMany(tx, `${kind}_external_id`, { kind, id })
  return withoutOwner(row!)
}

/** Adds a link, or changes that of the same source. Throws Invalid when there are too many. */
export async function putExternalLink(tx: TransactionSql, { kind, id }: Owner, given: NewLink) {
  const [row] = await tx<(ExternalLink & { owner: string })[]>`
    insert into ${tx(`${kind}_link`)} as x (id, ${tx(columnOf(kind))}, source, url, external_id)
    values (${newId()}, ${id}, ${given.sourceName}, ${given.url}, ${given.externalId})
    on conflict (${tx(columnOf(kind))}, source) do update
    set url = excluded.url, external_id = excluded.external_id, updated_at = now()
    returning ${linkColumns(tx, kind)}`
  await refuseMany(tx, `${kind}_link`, { kind, id })
  return withoutOwner(row!)
}

/** Removes an id or a link, told by its own id or its source. Throws NotFound. */
export async function removeExternal(
  tx: TransactionSql,
  { kind, id }: Owner,
  which: { table: 'external_id' | 'link'; name: string },
) {
  const { table, name } = which
  const { count } = await tx`
    delete from ${tx(`${kind}_${table}`)}
    where ${tx(columnOf(kind))} = ${id} and (id::text = ${name.toLowerCase()} or source = ${name})`
  if (count === 0)
    throw new NotFound(table === 'link' ? 'External link not found' : 'External id not found')
}

async function refuseMany(tx: TransactionSql, table: string, { kind, id }: Owner) {
  const [row] = await tx<{ count: number }[]>`
    select count(*) from ${tx(table)} where ${tx(columnOf(kind))} = ${id}`
  if (row!.count > most) throw new Invalid(`There are ${most} already`)
}

const shared = (sql: Db, kind: OwnerKind) => sql`
  x.id, x.${sql(columnOf(kind))} as ${sql(memberOf(kind))}, x.${sql(columnOf(kind))} as owner,
  x.created_at as "createdAt", x.updated_at as "updatedAt"`

const idColumns = (sql: Db, kind: OwnerKind) => sql`
  ${shared(sql, kind)}, x.source, x.external_id as "externalId", x.url as "externalUrl",
  x.hash as "metadataHash"`

const linkColumns = (sql: Db, kind: OwnerKind) => sql`
  ${shared(sql, kind)}, x.source as "sourceName", x.url, x.external_id as "externalId"`

function byOwner<T extends { owner: string }>(rows: readonly T[]): Map<string, Omit<T, 'owner'>[]> {
  const owners = Map.groupBy(rows, row => row.owner)
  return new Map([...owners].map(([owner, its]) => [owner, its.map(withoutOwner)]))
}

function withoutOwner<T extends { owner: string }>({ owner, ...row }: T): Omit<T, 'owner'> {
  return row
}
