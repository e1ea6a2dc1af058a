// References of a series or book as sources state them, and what a source's match replaced.
import { newId } from '../../base/id.ts'
import type { Queryable, Transaction } from '../../store/postgres/db.ts'
import type { Owner } from '../owner.ts'
import { ownerColumn, type ReferenceType } from './external-reference.ts'

const isOf = (sql: Queryable, { kind, id }: Owner) => sql`${ownerColumn(sql, kind)} = ${id}`

/** References of a series or book as stated by sources. */
export type StatedReferences = {
  externalIds: { source: string; externalId: string; url: string | null }[]
  externalLinks: { source: string; url: string }[]
  externalRatings: { source: string; rating: number; votes: number | null }[]
}

/** References by source, in one statement. */
export async function statedReferences(sql: Queryable, owner: Owner): Promise<StatedReferences> {
  const rows = await sql<
    {
      kind: ReferenceType
      source: string
      externalId: string
      url: string
      rating: number
      votes: number | null
    }[]
  >`
    select kind, source, external_id as "externalId", url, rating, votes from external_reference
    where ${isOf(sql, owner)} order by source`
  const of = (kind: ReferenceType) => rows.filter(row => row.kind === kind)
  return {
    externalIds: of('id').map(({ source, externalId, url }) => ({ source, externalId, url })),
    externalLinks: of('link').map(({ source, url }) => ({ source, url })),
    externalRatings: of('rating').map(({ source, rating, votes }) => ({ source, rating, votes })),
  }
}

/** Adds references stated by a source, replacing those of the same name, in one statement. */
export async function storeStatedReferences(
  tx: Transaction,
  owner: Owner,
  { externalIds, externalLinks, externalRatings }: StatedReferences,
): Promise<void> {
  const rows = [
    ...externalIds.map(row => ({ kind: 'id', ...row })),
    ...externalLinks.map(row => ({ kind: 'link', ...row })),
    ...externalRatings.map(row => ({ kind: 'rating', ...row })),
  ].map(row => ({ id: newId(), ...row }))
  if (rows.length === 0) return
  const column = ownerColumn(tx, owner.kind)
  await tx`
    insert into external_reference as x (id, kind, ${column}, source, external_id, url, rating, votes)
    select r.id, kind, ${owner.id}, source, "externalId", url, rating, votes
    from jsonb_to_recordset(${tx.json(rows as never)}) as r(id uuid, kind text, source text,
      "externalId" text, url text, rating double precision, votes integer)
    on conflict (${column}, kind, source) do update
    set external_id = excluded.external_id, url = excluded.url, rating = excluded.rating,
      votes = excluded.votes, updated_at = now()`
}

/** A field before a source changed it. */
export type FormerField = {
  value: unknown
  /** As in the provenance of the series or book; null if it had none. */
  provenance: string | null
  /** For references: the names under which the source stated any. */
  names?: string[]
}
export type Former = Record<string, FormerField>

/** The source's own external id with the hash of what it stated, and what its match replaced; null without one. */
export async function sourceMatch(sql: Queryable, owner: Owner, source: string) {
  const [row] = await sql<{ externalId: string; hash: string | null; former: Former | null }[]>`
    select external_id as "externalId", hash, former from external_reference
    where kind = 'id' and ${isOf(sql, owner)} and source = ${source}`
  return row ?? null
}

/** Remembers what the match of a source replaced; its external id exists. */
export async function storeFormer(
  tx: Transaction,
  owner: Owner,
  { source, former }: { source: string; former: Former },
): Promise<void> {
  await tx`
    update external_reference set former = ${tx.json(former as never)}
    where kind = 'id' and ${isOf(tx, owner)} and source = ${source}`
}

/** Deletes references of one type with these source names. */
export async function deleteStated(
  tx: Transaction,
  owner: Owner,
  { type, names }: { type: ReferenceType; names: readonly string[] },
): Promise<void> {
  await tx`
    delete from external_reference
    where kind = ${type} and ${isOf(tx, owner)} and source = any(${names as string[]})`
}
