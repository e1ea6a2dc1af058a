// Rules of collections: conditions of the API as a list of tests, and in words.
import { type TextKey, t, textOr } from '../../text/translate.ts'
import type { Rule } from './kind.ts'

/** Kinds of values; a list has the choices. */
export const ruleFields = {
  genre: 'text',
  tag: 'text',
  author: 'text',
  publisher: 'text',
  title: 'text',
  language: 'text',
  status: ['ongoing', 'ended', 'hiatus', 'abandoned', 'unknown'],
  year: 'number',
  libraryId: 'library',
  readStatus: ['unread', 'in_progress', 'read'],
  communityRating: 'number',
  completion: 'flag',
} as const satisfies Record<string, 'text' | 'number' | 'library' | 'flag' | readonly string[]>
export type RuleField = keyof typeof ruleFields

export type Test = { field: RuleField; operator: string; value: string }
export type FlatRule = { join: 'allOf' | 'anyOf'; tests: readonly Test[] }

export function operatorsOf(field: RuleField): readonly string[] {
  const kind = ruleFields[field]
  if (kind === 'text') return ['is', 'isNot', 'contains', 'doesNotContain', 'beginsWith']
  if (kind === 'number') return ['gte', 'lte', 'eq']
  if (kind === 'flag') return ['isTrue', 'isFalse']
  return ['is', 'isNot']
}

export const newTest = (field: RuleField): Test => ({
  field,
  operator: operatorsOf(field)[0]!,
  value: '',
})

export const isComplete = ({ field, value }: Test) =>
  ruleFields[field] === 'flag' || value.trim() !== ''

export function ruleOf({ join, tests }: FlatRule): Rule {
  const conditions = tests.map(({ field, operator, value }) => {
    const kind = ruleFields[field]
    const operand = kind === 'number' ? Number(value) : value.trim()
    return { [field]: kind === 'flag' ? { operator } : { operator, value: operand } }
  })
  return (conditions.length === 1 ? conditions[0]! : { [join]: conditions }) as Rule
}

type RuleTest = {
  operator?: string
  value?: unknown
  values?: unknown[]
  min?: unknown
  max?: unknown
}
const entryOf = (rule: Rule) => Object.entries(rule)[0] as [string, unknown] | undefined

/** Null for a rule that is not a list of tests. */
export function flatten(rule: Rule): FlatRule | null {
  const [key, value] = entryOf(rule) ?? []
  const isList = key === 'allOf' || key === 'anyOf'
  const parts = isList ? (value as Rule[]) : [rule]
  const tests = parts.map(testOf)
  if (tests.some(test => test === null)) return null
  return { join: key === 'anyOf' ? 'anyOf' : 'allOf', tests: tests as Test[] }
}

function testOf(rule: Rule): Test | null {
  const [name, test] = entryOf(rule) ?? []
  if (name === undefined || !(name in ruleFields)) return null
  const field = name as RuleField
  const { operator = '', value } = test as RuleTest
  if (!operatorsOf(field).includes(operator)) return null
  return { field, operator, value: value === undefined ? '' : String(value) }
}

/** A rule as a sentence. `libraries`: names by id. */
export function words(rule: Rule, libraries: ReadonlyMap<string, string>): string {
  const [key, value] = entryOf(rule) ?? []
  if (key === undefined) return ''
  if (key === 'allOf' || key === 'anyOf') {
    const parts = (value as Rule[]).map(part => {
      const text = words(part, libraries)
      return 'allOf' in part || 'anyOf' in part ? `(${text})` : text
    })
    return parts.join(` ${t(key === 'allOf' ? 'rule.and' : 'rule.or')} `)
  }
  const { operator = '', value: operand, values, min, max } = value as RuleTest
  const operands = (values ?? [operand, min, max]).filter(value => value != null)
  const names = operands.map(operand => {
    const text = String(operand)
    return libraries.get(text) ?? textOr(`rule.value.${key}.${text}`, `“${text}”`)
  })
  const name = textOr(`rule.field.${key}`, key)
  return [name, textOr(`rule.operator.${operator}` as TextKey, operator), names.join(', ')]
    .filter(Boolean)
    .join(' ')
}
