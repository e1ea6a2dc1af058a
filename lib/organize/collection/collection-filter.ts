// Conditions on series by collection: a rule-driven collection is replaced by its rule.
import type { Sql } from 'postgres'
import {
  type Condition,
  type Predicate,
  predicatesOf,
  type SeriesFilter,
} from '../../list/condition.ts'
import { filterOfRule } from './rules.ts'

const isByCollection = ({ field }: Predicate) => field === 'collectionId'
const idsOf = ({ test }: Predicate) => (test.kind === 'ids' ? test.ids : [])

/** Takes one statement, or none for conditions without collections. */
export async function resolveCollections(
  sql: Sql,
  filter: SeriesFilter | null,
): Promise<SeriesFilter | null> {
  const ids = filter ? predicatesOf(filter.condition).filter(isByCollection).flatMap(idsOf) : []
  if (!filter || ids.length === 0) return filter
  const rows = await sql<{ id: string; rule: unknown }[]>`
    select id, rule from collection where id = any(${ids}::uuid[]) and rule is not null`
  const rules = new Map(rows.map(({ id, rule }) => [id, filterOfRule(rule).condition]))
  return rules.size === 0 ? filter : { of: 'series', condition: replace(filter.condition, rules) }
}

function replace(condition: Condition, rules: ReadonlyMap<string, Condition>): Condition {
  if ('all' in condition) return { all: condition.all.map(part => replace(part, rules)) }
  if ('any' in condition) return { any: condition.any.map(part => replace(part, rules)) }
  if (!isByCollection(condition)) return condition
  const ids = idsOf(condition)
  const selected = ids.flatMap(id => rules.get(id) ?? [])
  if (selected.length === 0) return condition
  const picked: Predicate = {
    field: 'collectionId',
    test: { kind: 'ids', ids: ids.filter(id => !rules.has(id)) },
    negated: false,
  }
  const either: Condition = { any: [picked, ...selected] }
  return condition.negated ? complement(either) : either
}

function complement(condition: Condition): Condition {
  if ('all' in condition) return { any: condition.all.map(complement) }
  if ('any' in condition) return { all: condition.any.map(complement) }
  return { ...condition, negated: !condition.negated }
}
