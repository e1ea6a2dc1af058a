// Lookup of the genres and tags that a condition names. Done before the statement is planned: the
// planner then sees their number, and no row of a walk compares names.
import type { Queryable } from '../../../postgres/db.ts'
import { unionAll, unprepared } from '../../../postgres/statement.ts'
import type { LabelKind } from '../../label/label.ts'
import { type BookFilter, type Predicate, predicatesOf, type SeriesFilter } from '../condition.ts'
import { textTest } from './operators.ts'

export type Labels = {
  ids: string[]
  spellings: string[]
  /** Some series have one of the labels only through some of their books. */
  isPartial: boolean
}
/** The labels that match the positive form of a predicate. */
export type LabelLookup = (predicate: Predicate) => Labels

const noLabels: Labels = { ids: [], spellings: [], isPartial: false }

/** One statement for all genres and tags of a condition; none if the condition has none. */
export async function lookUpLabels(
  sql: Queryable,
  filter: BookFilter | SeriesFilter | null,
): Promise<LabelLookup> {
  const predicates = new Map<string, Predicate>()
  for (const predicate of filter ? predicatesOf(filter.condition) : []) {
    if (labelKindOf(predicate) && predicate.test.kind === 'text')
      predicates.set(keyOf(predicate), predicate)
  }
  if (predicates.size === 0) return () => noLabels
  const keys = [...predicates.keys()]
  const selects = [...predicates.values()].map(
    (predicate, i) => sql`
      select ${i}::integer as part, id, spellings, exists (
        select from series_label y where y.label_id = l.id and not y.is_own) as "isPartial"
      from label l
      where kind = ${labelKindOf(predicate)!} and ${textTest(sql, sql`key`, predicate.test as never)}`,
  )
  const rows = await unprepared(
    sql<{ part: number; id: string; spellings: string[]; isPartial: boolean }[]>`
      ${unionAll(sql, selects)}`,
  )
  const labels = new Map<string, Labels>()
  for (const { part, ...row } of rows) {
    const others = labels.get(keys[part]!) ?? noLabels
    labels.set(keys[part]!, {
      ids: [...others.ids, row.id],
      spellings: [...others.spellings, ...row.spellings],
      isPartial: others.isPartial || row.isPartial,
    })
  }
  return predicate => labels.get(keyOf(predicate)) ?? noLabels
}

const kinds: Record<string, LabelKind> = {
  genre: 'genre',
  tag: 'tag',
  anyTag: 'tag',
  ownTag: 'tag',
}

/** The labels that a predicate is about; undefined for other predicates. */
export const labelKindOf = ({ field }: Predicate): LabelKind | undefined => kinds[field]

function keyOf(predicate: Predicate): string {
  const { test } = predicate
  const kind = labelKindOf(predicate)!
  return test.kind === 'text' ? `${kind} ${test.operator} ${test.value}` : kind
}
