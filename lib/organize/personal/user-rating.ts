// Ratings and notes of series by accounts. An account reads only its own, and the mean of all.
import { type Viewer, visibleSeries } from '../../accounts/viewer.ts'
import { NotFound } from '../../base/errors.ts'
import { newId } from '../../base/id.ts'
import {
  component,
  count,
  nullable,
  type Static,
  Type,
  timestamp,
  uuid,
} from '../../base/schema.ts'
import { ownerNotFound } from '../../catalog/owner.ts'
import { requireSeries } from '../../catalog/series/series-record.ts'
import { publish, seriesEvents } from '../../store/event/publish.ts'
import type { Queryable, Sql } from '../../store/postgres/db.ts'

export const UserRating = component('UserRating', {
  id: uuid(),
  seriesId: uuid(),
  rating: Type.Integer({ minimum: 1, maximum: 100 }),
  notes: nullable(Type.String()),
  createdAt: timestamp(),
  updatedAt: timestamp(),
})
export type UserRating = Static<typeof UserRating>

export const AverageRating = component('AverageRating', {
  average: nullable(
    Type.Number({ description: 'Mean rating from 1 to 100; null if there are none.' }),
  ),
  count: count({ description: 'Number of accounts that rated the series.' }),
})
export type AverageRating = Static<typeof AverageRating>

/** Null if there is none. Throws NotFound for a hidden series. */
export async function findRating(
  sql: Queryable,
  viewer: Viewer,
  seriesId: string,
): Promise<UserRating | null> {
  await requireSeries(sql, viewer, seriesId)
  const [rating] = await sql<UserRating[]>`
    select ${columns(sql)} from user_rating u
    where u.account_id = ${viewer.accountId} and u.series_id = ${seriesId}`
  return rating ?? null
}

type NewRating = {
  rating: number
  /** Undefined leaves stored notes unchanged. */
  notes: string | null | undefined
}

/** Throws NotFound for a hidden series. */
export async function saveRating(
  sql: Sql,
  viewer: Viewer,
  { seriesId, rating, notes }: NewRating & { seriesId: string },
): Promise<UserRating> {
  return await sql.begin(async tx => {
    const [saved] = await tx<UserRating[]>`
    insert into user_rating as u (id, account_id, series_id, rating, notes)
    select ${newId()}, ${viewer.accountId}, s.id, ${rating}, ${notes ?? null}
    from series s where s.id = ${seriesId} and ${visibleSeries(sql, viewer)}
    on conflict (account_id, series_id) do update
    set rating = excluded.rating,
      notes = ${notes === undefined ? sql`u.notes` : sql`excluded.notes`}, updated_at = now()
    returning ${columns(tx)}`
    if (!saved) throw ownerNotFound('series')
    await publishRating(tx, viewer, seriesId)
    return saved
  })
}

/** Throws NotFound if there is no rating, and for a hidden series. */
export async function deleteRating(sql: Sql, viewer: Viewer, seriesId: string): Promise<void> {
  await requireSeries(sql, viewer, seriesId)
  await sql.begin(async tx => {
    const { count } = await tx`
      delete from user_rating where account_id = ${viewer.accountId} and series_id = ${seriesId}`
    if (count === 0) throw new NotFound('Rating not found')
    await publishRating(tx, viewer, seriesId, ['deleted'])
  })
}

/** Published to the account itself. */
async function publishRating(
  tx: Queryable,
  { accountId }: Viewer,
  seriesId: string,
  fields?: string[],
): Promise<void> {
  const series = await tx<{ id: string; libraryId: string }[]>`
    select id, library_id as "libraryId" from series where id = ${seriesId}`
  await publish(
    tx,
    seriesEvents('rating_updated', series, { accountId, ...(fields && { fields }) }),
  )
}

/** Mean over all accounts. Throws NotFound for a hidden series. */
export async function averageRating(
  sql: Queryable,
  viewer: Viewer,
  seriesId: string,
): Promise<AverageRating> {
  await requireSeries(sql, viewer, seriesId)
  const [row] = await sql<AverageRating[]>`
    select avg(rating)::float8 as average, count(*)::integer as count
    from user_rating where series_id = ${seriesId}`
  return row!
}

/** The viewer's ratings of visible series, most recently changed first. */
export async function listRatings(
  sql: Queryable,
  viewer: Viewer,
  { offset, pageSize }: { offset: number; pageSize: number },
): Promise<{ data: UserRating[]; total: number }> {
  const own = sql`
    from user_rating u join series s on s.id = u.series_id
    where u.account_id = ${viewer.accountId} and ${visibleSeries(sql, viewer)}`
  const [row] = await sql<{ total: number }[]>`select count(*)::float8 as total ${own}`
  const ratings = await sql<UserRating[]>`
    select ${columns(sql)} ${own}
    order by u.updated_at desc, u.id desc
    limit ${pageSize} offset ${offset}`
  return { data: [...ratings], total: row!.total }
}

function columns(sql: Queryable) {
  return sql`u.id, u.series_id as "seriesId", u.rating, u.notes, u.created_at as "createdAt",
    u.updated_at as "updatedAt"`
}
