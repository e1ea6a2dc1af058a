// Invariants of collections and read lists: every member has its own position, so the order is one that a
// user chose; books in read lists have the data that decides who can see them.
import {
  collections,
  type Grouping,
  readLists,
  tablesOf,
} from '../../lib/organize/grouping/grouping.ts'
import { type DoctorScope, type Invariant, violationQuery } from './invariant.ts'

const kinds = [
  { grouping: collections, name: 'order of collections', member: 'series in a collection' },
  { grouping: readLists, name: 'order of read lists', member: 'book in a read list' },
]

/** Groupings with two members at the same position. */
const ambiguous = ({ sql }: DoctorScope, grouping: Grouping) => {
  const { c, m, owner } = tablesOf(sql, grouping)
  return sql`
    select c.id, c.name || ' (' || c.id || ')' as note
    from ${c} c
    where c.id in (select m.${owner} from ${m} m group by m.${owner}, m.position having count(*) > 1)`
}

const places = kinds.map(
  ({ grouping, name, member }): Invariant => ({
    name,
    description: `Every ${member} has its own position.`,
    check: violationQuery(scope => ambiguous(scope, grouping)),
    async repair(scope) {
      const { sql } = scope
      const { c, m, owner, member } = tablesOf(sql, grouping)
      const rows = await sql<
        { id: string }[]
      >`select id from (${ambiguous(scope, grouping)}) x order by id`
      for (const { id } of rows)
        await sql.begin(async tx => {
          await tx`select 1 from ${c} where id = ${id} for no key update`
          await tx`
          update ${m} m set position = n.place
          from (
            select m.${member} as id, row_number() over (order by m.position, m.added_at, m.${member}) as place
            from ${m} m where m.${owner} = ${id}) n
          where m.${owner} = ${id} and m.${member} = n.id and m.position <> n.place`
        })
    },
  }),
)

const isOutdated = ({ sql }: DoctorScope) => sql`
  (m.series_id, m.age_rating, m.is_present)
    is distinct from (b.series_id, b.age_rating, b.missing_at is null)`

const copies: Invariant = {
  name: 'books of read lists',
  description:
    'A book in a read list has the same series, age rating and presence as the book itself.',
  check: violationQuery(
    scope => scope.sql`
      select m.book_id as id, m.book_id::text as note
      from read_list_book m join book b on b.id = m.book_id where ${isOutdated(scope)}`,
  ),
  async repair(scope) {
    const { sql } = scope
    await sql`
      update read_list_book m
      set series_id = b.series_id, age_rating = b.age_rating, is_present = b.missing_at is null
      from book b where b.id = m.book_id and ${isOutdated(scope)}`
  },
}

export const groupingInvariants: Invariant[] = [...places, copies]
