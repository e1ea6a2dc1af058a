// Hold on the storing of books, so that a test decides how far a scan gets.
import type { Sql } from '../../lib/store/postgres/db.ts'
import { waitUntil } from './processes.ts'

/**
 * From now on one batch of books can be stored, at most 64 of them for libraries of up to 512; the next ones wait in
 * their transactions until `release`. `isReached` resolves when the first is stored and another waits.
 */
export async function holdBooks(sql: Sql) {
  const holder = await sql.reserve()
  await holder`select pg_advisory_lock(hashtext('test.hold_books'))`
  await sql`create sequence if not exists test_stored_batches`
  await sql`alter sequence test_stored_batches restart`
  // A sequence counts concurrent transactions as well.
  await sql`
    create or replace function test_hold_books() returns trigger language plpgsql as $$
    begin
      if nextval('test_stored_batches') > 1 then
        perform pg_advisory_xact_lock(hashtext('test.hold_books'));
      end if;
      return null;
    end $$`
  await sql`
    create or replace trigger test_hold_books before insert on book
    for each statement execute function test_hold_books()`
  const waiting = () => sql`
    select from pg_locks
    where locktype = 'advisory' and not granted and objid = hashtext('test.hold_books')::bit(32)::bigint::oid
      and database = (select oid from pg_database where datname = current_database())`
  return {
    isReached: () => waitUntil(async () => (await waiting()).length > 0),
    async release() {
      await holder`select pg_advisory_unlock(hashtext('test.hold_books'))`
      holder.release()
    },
  }
}
