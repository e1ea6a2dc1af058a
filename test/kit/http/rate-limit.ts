// Rate limits at a standstill: how many requests are admitted does not depend on their duration.
import type { Sql } from '../../../lib/store/postgres/db.ts'

/** From now on no bucket of the database gets new tokens: the time of all of them lies ahead. */
export async function stopRefill(sql: Sql) {
  await sql`
    create function test_stop_refill() returns trigger language plpgsql as $$
    begin
      new.updated_at = now() + interval '1 year';
      return new;
    end $$`
  await sql`
    create trigger test_stop_refill before insert or update on rate_bucket
    for each row execute function test_stop_refill()`
}
