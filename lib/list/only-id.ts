// Lists of one owner: the only id that a condition allows for a field.
import type { Condition } from './condition.ts'

export const conjuncts = (condition: Condition | null): readonly Condition[] =>
  condition === null ? [] : 'all' in condition ? condition.all.flatMap(conjuncts) : [condition]

/** Undefined for none or several. */
export function onlyId(condition: Condition | null, field: string): string | undefined {
  for (const part of conjuncts(condition)) {
    const ids = idsOf(part, field)
    if (ids?.length === 1) return ids[0]
  }
  return undefined
}

/** The ids that a part allows for a field; null for another part. */
export function idsOf(part: Condition, field: string): readonly string[] | null {
  if (!('field' in part) || part.field !== field || part.negated) return null
  return part.test.kind === 'ids' ? part.test.ids : null
}
