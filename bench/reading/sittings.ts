// Sittings of a thousand accounts over two years, one of which reads the most, added to a seeded database.
import type { Sql } from '../../lib/store/postgres/db.ts'
import { dropIndexes } from '../seed/copy.ts'

const accounts = 1_000
/** The share of the account that reads the most. */
const heavyShare = 1 / 300

/** Does nothing if there are as many already. The rows of all accounts are mixed, in the order of time. */
export async function addSittings(sql: Sql, count: number): Promise<void> {
  const [row] = await sql<{ count: number }[]>`select count(*) as count from reading_session`
  if (row!.count >= count) return
  const definitions = await dropIndexes(sql, ['reading_session', 'reading_pass'])
  await sql.begin(async tx => {
    await tx`set local session_replication_role = replica`
    await tx`
      create temporary table reader on commit drop as
      select n, gen_random_uuid() as id from generate_series(0, ${accounts - 1}::integer) n`
    await tx`
      insert into account (id, username, password_hash)
      select id, 'sitting-' || id, '-' from reader`
    await tx`
      insert into reading_device (account_id, key, name)
      select id, key, key from reader, unnest(array['tablet', 'koreader:1', 'browser']) key`
    await tx`
      create temporary table numbered on commit drop as
      select row_number() over (order by id) - 1 as n, id from book`
    await tx`
      create temporary table first_device on commit drop as
      select r.n, r.id, min(d.id) as device
      from reader r join reading_device d on d.account_id = r.id group by 1, 2`
    await tx`analyze numbered`
    await tx`analyze first_device`
    const [books] = await tx<{ count: number }[]>`select count(*) as count from numbered`
    // Some six sittings in a book before the next one.
    await tx`
      insert into reading_session (account_id, id, book_id, kind, surface, device, started_at,
        ended_at, is_session, measured_ms, inferred_ms, pages_read, page)
      select r.id, gen_random_uuid(), b.id, 'progress', 'session',
        r.device + i % 3,
        s.at, s.at + s.length, i % 2 = 0,
        case when i % 2 = 0 then extract(epoch from s.length) * 1000 end,
        case when i % 2 = 1 then extract(epoch from s.length) * 1000 end,
        case when i % 4 = 0 then 20 end, 30
      from (
        select i, case when abs(hashint8(i)) % ${Math.round(1 / heavyShare)} = 0 then 0
            else abs(hashint8(i)) % ${accounts} end as reader,
          now() - interval '2 years' * (1 - i / ${count}::float8) as at,
          interval '1 second' * (60 + abs(hashint8(i + 7)) % 3000) as length
        from generate_series(1, ${count}::bigint) i) s
      join first_device r on r.n = s.reader
      join numbered b on b.n = abs(hashint8(r.n * 1000003 + s.i / (6 * ${accounts})))
        % ${books!.count}::bigint`
    await tx`
      insert into reading_pass (account_id, book_id, started_at, completed_at, device)
      select account_id, book_id, min(started_at), max(ended_at), min(device)
      from reading_session where is_session group by account_id, book_id
      on conflict do nothing`
  })
  for (const definition of definitions)
    await sql.begin(async tx => {
      await tx`set local maintenance_work_mem = '1GB'`
      await tx.unsafe(definition)
    })
  await sql`vacuum analyze reading_session, reading_pass, reading_device`
}
