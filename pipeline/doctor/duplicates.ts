// Invariants of duplicate groups. Groups follow the hashes with a delay: while a library is scanned, books
// are hashed, or a refresh was just enqueued, a difference is not a violation.
import type { Sql } from '../../lib/store/postgres/db.ts'
import { unfinishedJobs } from '../../lib/store/queue/select-jobs.ts'
import { dedupe } from '../finalize/dedupe.ts'
import { type DoctorScope, type Invariant, violationQuery } from './invariant.ts'

export const duplicateInvariants: Invariant[] = [
  whenIdle(
    'duplicate groups',
    'Books in a group are present and have the hash of the group.',
    sql => sql`
      select b.name as place, b.id || ' in group ' || g.id as note
      from duplicate_book m
      join duplicate_group g on g.id = m.group_id
      join book b on b.id = m.book_id
      join book_artifact a on a.book_id = b.id
      where b.missing_at is not null or a.sha256 is distinct from decode(g.key, 'hex')`,
  ),
  whenIdle(
    'ungrouped duplicates',
    'Present books with equal hashes are in one group.',
    sql => sql`
      select b.name as place, b.id as note
      from book b
      join book_artifact a on a.book_id = b.id
      join (
        select t.sha256 from book_artifact t
        join book o on o.id = t.book_id
        where t.sha256 is not null and o.missing_at is null
        group by t.sha256
        having count(*) > 1
      ) twin on twin.sha256 = a.sha256
      where b.missing_at is null
        and not exists (
          select from duplicate_group g
          join duplicate_book m on m.group_id = g.id
          where g.kind = 'book' and g.key = encode(a.sha256, 'hex') and m.book_id = b.id)`,
  ),
  whenIdle(
    'group sizes',
    'A group of duplicates has at least two members.',
    sql => sql`
      select kind || ' ' || key || ' (' || id || ')' as note
      from duplicate_group g
      where (select count(*) from duplicate_book where group_id = g.id)
        + (select count(*) from duplicate_series where group_id = g.id) < 2`,
  ),
]

function whenIdle(name: string, description: string, select: (sql: Sql) => Violating): Invariant {
  const check = violationQuery(({ sql }) => select(sql))
  return {
    name,
    description,
    check: async scope =>
      scope.isQuiet && !(await isPending(scope)) ? await check(scope) : { count: 0, samples: [] },
    repair: ({ sql }) => dedupe(sql),
  }
}

type Violating = ReturnType<Parameters<typeof violationQuery>[0]>

async function isPending({ sql, hasQueue }: DoctorScope): Promise<boolean> {
  if (!hasQueue) return false
  const [row] = await sql`
    select from ${unfinishedJobs(sql, ['hash', 'dedupe'])} j
    where j.name = 'hash' or j.created_on > now() - interval '1 minute'
    limit 1`
  return row !== undefined
}
