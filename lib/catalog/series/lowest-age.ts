// Keeps series.lowest_age: the age from which a reader sees any book of a series.
import type { Fragment } from 'postgres'
import type { Db } from '../list/filter-sql.ts'

/** Settles series whose books came, went, moved or were rated anew. */
export async function settleLowestAge(tx: Db, seriesIds: string[]): Promise<void> {
  await tx`
    update series s set lowest_age = ${lowestAge(tx)}
    where s.id = any(${seriesIds}) and s.lowest_age <> ${lowestAge(tx)}`
}

/** What it should be, of `series s`. */
export function lowestAge(sql: Db): Fragment {
  const present = sql`from book b where b.series_id = s.id and b.missing_at is null`
  return sql`(case
    when exists (select ${present} and b.age_rating is null) then 0
    else coalesce((select min(b.age_rating) ${present}), 0) end)`
}
