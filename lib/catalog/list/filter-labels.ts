// Genres and tags of a condition, looked up by name before the statement is made: the planner then
// knows how many there are, and no walk asks for names.
import type { BookFilter, Condition, Leaf, SeriesFilter } from './filter.ts'
import { type Db, textTest } from './filter-sql.ts'
import { oneOff } from './unprepared.ts'

export type Labels = {
  ids: string[]
  spellings: string[]
  /** Some series have one of them only by some of their books. */
  isPartial: boolean
}
/** The labels that the positive form of a test means. */
export type LabelsOf = (leaf: Leaf) => Labels

const none: Labels = { ids: [], spellings: [], isPartial: false }

/** One statement for all genres and tags of a condition, none when it has none. */
export async function findLabels(
  sql: Db,
  filter: BookFilter | SeriesFilter | null,
): Promise<LabelsOf> {
  const asked = new Map<string, Leaf>()
  for (const leaf of filter ? leavesOf(filter.condition) : []) {
    if ((leaf.field === 'genre' || leaf.field === 'tag') && leaf.test.is === 'text')
      asked.set(keyOf(leaf), leaf)
  }
  if (asked.size === 0) return () => none
  const found = new Map<string, Labels>()
  const keys = [...asked.keys()]
  const parts = [...asked.values()].map(
    ({ field, test }, i) => sql`
      select ${i}::integer as part, id, spellings, exists (
        select from series_label y where y.label_id = l.id and not y.is_own) as "isPartial"
      from label l
      where kind = ${field} and ${textTest(sql, sql`key`, test as never)}`,
  )
  const rows = await oneOff(
    sql<{ part: number; id: string; spellings: string[]; isPartial: boolean }[]>`
      ${parts.reduce((all, part) => sql`${all} union all ${part}`)}`,
  )
  for (const { part, ...row } of rows) {
    const all = found.get(keys[part]!) ?? none
    found.set(keys[part]!, {
      ids: [...all.ids, row.id],
      spellings: [...all.spellings, ...row.spellings],
      isPartial: all.isPartial || row.isPartial,
    })
  }
  return leaf => found.get(keyOf(leaf)) ?? none
}

/** All tests of a condition. */
export function leavesOf(condition: Condition): Leaf[] {
  if ('all' in condition) return condition.all.flatMap(leavesOf)
  if ('any' in condition) return condition.any.flatMap(leavesOf)
  return [condition]
}

function keyOf({ field, test }: Leaf): string {
  return test.is === 'text' ? `${field} ${test.how} ${test.value}` : field
}
