// Groups of duplicates against the books and series they name. Groups follow the hashes a little
// later: while a library is scanned, books are hashed or groups were asked for a moment ago, a
// difference is no fault yet.
import type { Sql } from 'postgres'
import { dedupe } from '../index/dedupe.ts'
import { broken, type Invariant, type Scope } from './invariant.ts'

export const duplicateInvariants: Invariant[] = [
  {
    name: 'duplicate groups',
    sentence: 'Books in a group are present and have the hash that the group is about.',
    look: whenSettled(
      broken(
        ({ sql }) => sql`
          select b.name as place, b.id || ' in group ' || g.id as note
          from duplicate_book m
          join duplicate_group g on g.id = m.group_id
          join book b on b.id = m.book_id
          where b.missing_at is not null or b.sha256 is distinct from decode(g.key, 'hex')`,
      ),
    ),
    repair: ({ sql }) => dedupe(sql),
  },
  {
    name: 'duplicates found',
    sentence: 'Present books with equal hashes are in one group.',
    look: whenSettled(
      broken(
        ({ sql }) => sql`
          select b.name as place, b.id as note
          from book b
          join (
            select sha256 from book
            where sha256 is not null and missing_at is null
            group by sha256
            having count(*) > 1
          ) twin on twin.sha256 = b.sha256
          where b.missing_at is null
            and not exists (
              select from duplicate_group g
              join duplicate_book m on m.group_id = g.id
              where g.kind = 'book' and g.key = encode(b.sha256, 'hex') and m.book_id = b.id)`,
      ),
    ),
    repair: ({ sql }) => dedupe(sql),
  },
  {
    name: 'group sizes',
    sentence: 'A group of duplicates has at least two members.',
    look: whenSettled(
      broken(
        ({ sql }) => sql`
          select kind || ' ' || key || ' (' || id || ')' as note
          from duplicate_group g
          where ${members(sql)} < 2`,
      ),
    ),
    repair: ({ sql }) => dedupe(sql),
  },
]

function members(sql: Sql) {
  return sql`(
    (select count(*) from duplicate_book where group_id = g.id)
    + (select count(*) from duplicate_series where group_id = g.id))`
}

function whenSettled(look: Invariant['look']): Invariant['look'] {
  return async scope =>
    scope.isQuiet && !(await isPending(scope)) ? await look(scope) : { count: 0, samples: [] }
}

async function isPending({ sql, hasQueue }: Scope) {
  if (!hasQueue) return false
  const [row] = await sql`
    select from pgboss.job
    where state < 'completed'
      and (name = 'hash' or name = 'dedupe' and created_on > now() - interval '1 minute')
    limit 1`
  return row !== undefined
}
