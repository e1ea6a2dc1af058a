// `series.lowest_age`: the lowest age limit at which a viewer sees any book of a series.
import type { Fragment } from 'postgres'
import type { Queryable } from '../../store/postgres/db.ts'

/** Refreshes series whose books were added, removed, moved or rated. */
export async function refreshLowestAge(tx: Queryable, seriesIds: string[]): Promise<void> {
  await tx`
    update series s set lowest_age = ${lowestAge(tx)}
    where s.id = any(${seriesIds}) and s.lowest_age <> ${lowestAge(tx)}`
}

/** The expected value for `series s`. */
export function lowestAge(sql: Queryable): Fragment {
  const present = sql`from book b where b.series_id = s.id and b.missing_at is null`
  return sql`(case
    when exists (select ${present} and b.age_rating is null) then 0
    else coalesce((select min(b.age_rating) ${present}), 0) end)`
}
