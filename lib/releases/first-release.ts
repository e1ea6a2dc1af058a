// `series.released`: the earliest release date of a series' books, by which series are filtered and sorted.
import type { Fragment } from 'postgres'
import type { Queryable } from '../store/postgres/db.ts'

/** Refreshes series whose books were added, removed, moved or dated. */
export async function refreshFirstRelease(tx: Queryable, seriesIds: string[]): Promise<void> {
  await tx`
    update series s set released = t.released
    from (select s.id, ${firstRelease(tx)} as released from series s where s.id = any(${seriesIds})) t
    where s.id = t.id and s.released is distinct from t.released`
}

/** The expected value for `series s`: yyyymmdd with 00 for an unknown month or day; null if there is none. */
export function firstRelease(sql: Queryable): Fragment {
  return sql`(
    select min(b.released) from book b
    where b.series_id = s.id and b.missing_at is null and b.year > 0)`
}
