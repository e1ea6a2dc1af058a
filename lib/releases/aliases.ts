// Aliases of series: the titles by which releases are matched, and where they come from.
import { type Viewer, visibleSeries } from '../accounts/viewer.ts'
import { Conflict, Invalid, NotFound } from '../base/errors.ts'
import { newId } from '../base/id.ts'
import { component, type Static, Type, timestamp, uuid } from '../base/schema.ts'
import { publishChange } from '../catalog/metadata/change-events.ts'
import { fromSeriesForUpdate } from '../catalog/row-locks.ts'
import { requireSeries } from '../catalog/series/series-record.ts'
import type { Queryable, Sql, Transaction } from '../store/postgres/db.ts'
import { retryOnDeadlock } from '../store/postgres/retry-on-deadlock.ts'

const maxKeyLength = 500

/** Letters, marks and digits in lower case, single spaces between words; empty if there are none. */
export function aliasKey(title: string): string {
  const words = title
    .normalize('NFC')
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}\s]+/gu, '')
    .split(/\s+/)
  return words.filter(Boolean).join(' ').slice(0, maxKeyLength).toWellFormed()
}

export const Alias = component('SeriesAlias', {
  id: uuid(),
  seriesId: uuid(),
  alias: Type.String(),
  normalized: Type.String({
    description: 'The form used for matching, without case and punctuation.',
  }),
  source: Type.String({ description: '`manual`, or `metadata` for titles of the series.' }),
  createdAt: timestamp(),
})
export type Alias = Static<typeof Alias>

const maxAliases = 500
/** In characters; must fit into an index. */
export const maxAliasLength = 500

/** A title, truncated to the length of an alias. */
export const storableAlias = (title: string) => title.trim().slice(0, maxAliasLength).toWellFormed()

const columns = (sql: Queryable) => sql`
  a.id, a.series_id as "seriesId", a.alias, a.alias_key as normalized, a.source,
  a.created_at as "createdAt"`

/** Sorted by title. Throws NotFound. */
export async function aliasesOf(sql: Sql, viewer: Viewer, seriesId: string): Promise<Alias[]> {
  const rows = await sql<Alias[]>`
    select ${columns(sql)}
    from series s join series_alias a on a.series_id = s.id
    where s.id = ${seriesId} and ${visibleSeries(sql, viewer)}
    order by a.alias_key, a.id`
  if (rows.length === 0) await requireSeries(sql, viewer, seriesId)
  return [...rows]
}

/** Throws Invalid for an alias without letters or digits, Conflict for too many, NotFound. */
export async function addAlias(
  sql: Sql,
  viewer: Viewer,
  { seriesId, alias, source }: { seriesId: string; alias: string; source: string },
): Promise<{ alias: Alias; isNew: boolean }> {
  const title = storableAlias(alias)
  if (aliasKey(title) === '') throw new Invalid('An alias must have letters or digits')
  return await retryOnDeadlock(sql, async tx => {
    const series = await lockOne(tx, viewer, seriesId)
    const [{ count } = { count: 0 }] = await tx<{ count: number }[]>`
      select count(*)::integer as count from series_alias
      where series_id = ${seriesId} and alias <> ${title}`
    if (count >= maxAliases)
      throw new Conflict(`The limit of a series is ${maxAliases} aliases`, { limit: maxAliases })
    const isNew = (await insertAliases(tx, [{ seriesId, alias: title, source }])).length > 0
    if (isNew) await publishChange(tx, series, ['aliases'])
    const [stored] = await tx<Alias[]>`
      select ${columns(tx)} from series_alias a where a.series_id = ${seriesId} and a.alias = ${title}`
    return { alias: stored!, isNew }
  })
}

/** Throws NotFound. */
export async function deleteAlias(
  sql: Sql,
  viewer: Viewer,
  { seriesId, aliasId }: { seriesId: string; aliasId: string },
): Promise<void> {
  await retryOnDeadlock(sql, async tx => {
    const series = await lockOne(tx, viewer, seriesId)
    const { count } = await tx`
      delete from series_alias where id = ${aliasId} and series_id = ${seriesId}`
    if (count === 0) throw new NotFound('Alias not found')
    await publishChange(tx, series, ['aliases'])
  })
}

/** Returns the ids of the series that got a new alias. Titles without letters or digits are skipped. */
export async function insertAliases(
  tx: Transaction,
  aliases: readonly { seriesId: string; alias: string; source: string }[],
): Promise<string[]> {
  const rows = aliases
    .map(alias => ({ ...alias, id: newId(), key: aliasKey(alias.alias) }))
    .filter(({ key }) => key !== '')
  const added = await tx<{ id: string }[]>`
    insert into series_alias (id, series_id, alias, alias_key, source)
    select id, "seriesId", alias, key, source
    from jsonb_to_recordset(${tx.json(rows)})
      as r(id uuid, "seriesId" uuid, alias text, key text, source text)
    on conflict do nothing
    returning series_id as id`
  return [...new Set(added.map(row => row.id))]
}

/** Throws NotFound. */
async function lockOne(tx: Transaction, viewer: Viewer, seriesId: string) {
  const [series] = await tx<{ id: string; libraryId: string }[]>`
    select s.id, s.library_id as "libraryId" ${fromSeriesForUpdate(tx, viewer, [seriesId])}`
  if (!series) throw new NotFound('Series not found')
  return series
}
