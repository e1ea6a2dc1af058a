// Synthetic ratings and want-to-read lists: some accounts with thousands of entries, the others with a few.
import type { Sql } from '../../lib/store/postgres/db.ts'

/** Three accounts get `heavy` ratings each, and half as many wanted series and books; the others get a fiftieth. */
export async function makePersonal(sql: Sql, heavy: number): Promise<void> {
  const count = sql`case when a.username in ('reader1', 'reader2', 'reader3') then ${heavy}::integer
    else ${Math.ceil(heavy / 50)}::integer end`
  const shuffled = (id: string) => sql`hashtext(a.username || ${sql(id)}.id)`
  await sql`
    insert into user_rating (id, account_id, series_id, rating)
    select gen_random_uuid(), a.id, r.id, 1 + abs(hashtext(r.id::text) % 100)
    from account a cross join lateral (
      select s.id from series s where s.book_count > 0
      order by ${shuffled('s')} limit ${count}) r`
  await sql`
    insert into want_to_read (id, account_id, series_id, position)
    select gen_random_uuid(), a.id, r.id, row_number() over (partition by a.id)
    from account a cross join lateral (
      select s.id from series s order by ${shuffled('s')} desc limit ${count} / 2) r`
  await sql`
    insert into want_to_read (id, account_id, book_id, position)
    select gen_random_uuid(), a.id, r.id, ${heavy} + row_number() over (partition by a.id)
    from account a cross join lateral (
      select b.id from (select b.id from book b limit 100000) b
      order by ${shuffled('b')} limit ${count} / 2) r`
}
