// Condition trees as values: groups that omit parts without effect, complements, and predicates merged where one
// test can replace many.
import type { Condition, Predicate, Test } from '../../../list/condition.ts'

/** Null stands for no restriction; `allOf` and `anyOf` ignore it. */
export type Part = Condition | null

export const everything: Condition = { all: [] }
export const nothing: Condition = { any: [] }

export function predicate(field: string, test: Test, negated = false): Predicate {
  return { field, test, negated }
}

export function allOfParts(parts: readonly Part[]): Part {
  const all = parts.flatMap(part => (part === null ? [] : 'all' in part ? part.all : [part]))
  if (all.some(isNothing)) return nothing
  if (all.length === 0) return parts.some(part => part !== null) ? everything : null
  const merged = mergeSets(all, true)
  return merged.length === 1 ? merged[0]! : { all: merged }
}

export function anyOfParts(parts: readonly Part[]): Part {
  const given = parts.filter(part => part !== null)
  if (given.length === 0) return null
  if (given.some(isEverything)) return everything
  const any = given.flatMap(part => ('any' in part ? part.any : [part]))
  const merged = mergeSets(any, false)
  return merged.length === 1 ? merged[0]! : { any: merged }
}

/** All rows except those selected by the condition. */
export function complement(condition: Condition): Condition {
  if ('all' in condition) return anyOfParts(condition.all.map(complement)) ?? nothing
  if ('any' in condition) return allOfParts(condition.any.map(complement)) ?? everything
  return { ...condition, negated: !condition.negated }
}

const isEverything = (part: Condition) => 'all' in part && part.all.length === 0
const isNothing = (part: Condition) => 'any' in part && part.any.length === 0

/** Merges tests for ids or words into one test: negated ones in `allOf`, others in `anyOf`. */
function mergeSets(parts: readonly Condition[], negated: boolean): Condition[] {
  const sets = new Map<string, Set<string>>()
  const merged: Condition[] = []
  for (const part of parts) {
    const values = valuesOf(part, negated)
    const key = values && `${(part as Predicate).test.kind} ${(part as Predicate).field}`
    const set = key === null ? undefined : sets.get(key)
    if (set) for (const value of values!) set.add(value)
    else merged.push(part)
    if (key !== null && !set) sets.set(key, new Set(values))
  }
  return merged.map(part => {
    if (!valuesOf(part, negated)) return part
    const { field, test } = part as Predicate
    const values = [...sets.get(`${test.kind} ${field}`)!]
    const whole: Test =
      test.kind === 'ids' ? { kind: 'ids', ids: values } : { kind: 'words', words: values }
    return { field, test: whole, negated }
  })
}

function valuesOf(part: Condition, negated: boolean): readonly string[] | null {
  if (!('field' in part) || part.negated !== negated) return null
  if (part.test.kind === 'ids') return part.test.ids
  return part.test.kind === 'words' ? part.test.words : null
}
