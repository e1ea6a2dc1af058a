// Hold on the storing of books, so that a test decides how far a scan gets.
import type { Sql } from '../../lib/postgres/db.ts'
import { waitUntil } from './processes.ts'

/**
 * From now on one batch of books can be stored, at most 64 of them for libraries of up to 512; the next ones wait in
 * their transactions until `release`. `isReached` resolves when the first is stored and another waits. With `passing`
 * it is the batch with a new file of this name, which may be stored after another one waits.
 */
export async function holdBooks(sql: Sql, { passing }: { passing?: string } = {}) {
  const holder = await sql.reserve()
  await holder`select pg_advisory_lock(hashtext('test.hold_books'))`
  await sql`create sequence if not exists test_stored_batches`
  await sql`alter sequence test_stored_batches restart`
  // A sequence counts concurrent transactions as well.
  const isHeld = passing
    ? `not exists (select from added where name = convert_to('${passing}', 'UTF8'))`
    : `nextval('test_stored_batches') > 1`
  const time = passing
    ? 'after insert on book referencing new table as added'
    : 'before insert on book'
  await sql.unsafe(`
    create or replace function test_hold_books() returns trigger language plpgsql as $$
    begin
      if ${isHeld} then
        perform pg_advisory_xact_lock(hashtext('test.hold_books'));
      end if;
      return null;
    end $$`)
  await sql.unsafe(`
    create or replace trigger test_hold_books ${time}
    for each statement execute function test_hold_books()`)
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
