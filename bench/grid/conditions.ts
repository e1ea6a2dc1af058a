// Conditions generated from the filter fields: every field with every operator and several values,
// and random trees of them.
import {
  bookFields,
  type FieldKind,
  nullOperators,
  operators,
  rangeKeys,
  seriesFields,
} from '../../lib/list/fields.ts'
import type { Sql } from '../../lib/store/postgres/db.ts'
import type { Random } from '../../test/kit/random.ts'
import { type Entity, type FieldValues, valuesOf } from './values.ts'

export type NamedCondition = { name: string; condition: object }

/** One condition for each field, operator and kind of value. */
export async function singleConditions(sql: Sql, entity: Entity): Promise<NamedCondition[]> {
  const fields: Record<string, FieldKind> = entity === 'book' ? bookFields : seriesFields
  const found = new Map<string, NamedCondition>()
  for (const [field, kind] of Object.entries(fields)) {
    const values = await valuesOf(sql, entity, field, kind)
    const operands = Object.entries<string>(operators[kind]).flatMap(([operator, arity]) =>
      operandsOf(kind, operator, arity, values).map(([level, operand]) => ({
        name: `${field} ${operator} ${level}`,
        condition: { [field]: { operator, ...operand } },
      })),
    )
    const nulls = nullOperators.map(operator => ({
      name: `${field} ${operator}`,
      condition: { [field]: { operator } },
    }))
    for (const one of [...operands, ...nulls]) {
      const key = JSON.stringify(one.condition)
      if (!found.has(key)) found.set(key, one)
    }
  }
  return [...found.values()]
}

type Operand = [level: string, operand: object]

function operandsOf(
  kind: FieldKind,
  operator: string,
  arity: string,
  values: FieldValues,
): Operand[] {
  if (arity === 'nothing') return [['', {}]]
  if (kind === 'number' || kind === 'date') return pointOperands(kind, arity, values)
  if (arity === 'values') {
    const { absent, ...present } = values.whole
    const ids = [present.rare, present.middling, present.frequent]
    return [
      ['absent', { values: [absent] }],
      ['rare', { values: ids.slice(0, 1) }],
      ['many', { values: ids }],
    ]
  }
  const isPart = !['is', 'isNot'].includes(operator)
  if (kind === 'boolean') {
    const words = isPart ? ['tr', 'fal', 'e', 'xq'] : [true, false]
    return words.map(value => [String(value), { value }])
  }
  if (kind === 'status') {
    const words = isPart ? ['un', 'read', 'progress', 'xq'] : ['unread', 'in_progress', 'read']
    return words.map(value => [value, { value }])
  }
  const { short: _short, ...ids } = values.whole
  const whole = kind === 'id' ? ids : values.whole
  const levels = !isPart
    ? whole
    : operator === 'beginsWith'
      ? values.beginning
      : operator === 'endsWith'
        ? values.end
        : values.part
  return Object.entries(levels).map(([level, value]) => [level, { value }])
}

function pointOperands(kind: 'number' | 'date', arity: string, { points }: FieldValues): Operand[] {
  const { low, common, middle, later, high, top } = points
  const typed = (point: string) => (kind === 'number' ? Number(point) : point)
  const beyond = kind === 'number' ? Number(top) + 1 : '2199-01-01T00:00:00Z'
  if (arity !== 'range')
    return [
      ['absent', { value: beyond }],
      ['rare', { value: typed(high) }],
      ['middling', { value: typed(middle) }],
      ['frequent', { value: typed(common) }],
      ['lowest', { value: typed(low) }],
    ]
  const [from, to] = rangeKeys[kind]
  return [
    ['absent', { [from]: beyond }],
    ['rare', { [from]: typed(high), [to]: typed(top) }],
    ['middling', { [from]: typed(middle), [to]: typed(later) }],
    ['frequent', { [from]: typed(low), [to]: typed(high) }],
  ]
}

/** Pairs under `allOf` or `anyOf`, and nests of two or three groups of such conditions. */
export function randomCondition(
  random: Random,
  singles: readonly NamedCondition[],
): NamedCondition {
  const group = (parts: NamedCondition[]): NamedCondition => {
    const isAll = random.chance(0.5)
    return {
      name: `(${parts.map(part => part.name).join(isAll ? ' and ' : ' or ')})`,
      condition: { [isAll ? 'allOf' : 'anyOf']: parts.map(part => part.condition) },
    }
  }
  const leaves = (count: number) => Array.from({ length: count }, () => random.pick(singles))
  if (random.chance(0.5)) return group(leaves(2))
  const groups = Array.from({ length: 2 + random.below(2) }, () =>
    random.chance(0.25) ? random.pick(singles) : group(leaves(2 + random.below(2))),
  )
  return group(groups)
}
