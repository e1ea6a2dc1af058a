// API conditions in words, for collection rules and filters.
import {
  fieldKey,
  formatDate,
  formatNumber,
  type TextKey,
  t,
  textOr,
  valueKey,
} from '../../text/translate.ts'

/** A series condition of the API. */
export type StoredCondition = object

export type StoredTest = {
  operator?: string
  value?: unknown
  values?: readonly unknown[]
  min?: unknown
  max?: unknown
  start?: unknown
  end?: unknown
}

/** Fields from 1 to 100 in the API, shown as up to five stars. */
export const ratingFields: readonly string[] = ['userRating', 'communityRating']
export const perStar = 20

/** The API also accepts snake case. */
const camel = (name: string) =>
  name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())

/** Key of a condition (a group or a field) with its value. */
export function entryOf(condition: StoredCondition): [key: string, value: unknown] | null {
  const [entry] = Object.entries(condition)
  return entry ? [camel(entry[0]), entry[1]] : null
}

export const isGroup = (key: string): key is 'allOf' | 'anyOf' => key === 'allOf' || key === 'anyOf'

export const operatorOf = ({ operator = '' }: StoredTest) => camel(operator)

/** The condition as a sentence, with nested groups in brackets. `libraries`: names by id. */
export function words(condition: StoredCondition, libraries: ReadonlyMap<string, string>): string {
  const entry = entryOf(condition)
  if (!entry) return ''
  const [key, value] = entry
  if (!isGroup(key)) return wordsOfTest(key, value as StoredTest, libraries)
  const parts = (value as StoredCondition[]).map(part => {
    const text = words(part, libraries)
    const own = entryOf(part)
    return own && isGroup(own[0]) && (own[1] as unknown[]).length > 1 ? `(${text})` : text
  })
  if (parts.length === 0) return t(key === 'allOf' ? 'rule.everything' : 'rule.nothing')
  return parts.join(` ${t(key === 'allOf' ? 'rule.and' : 'rule.or')} `)
}

function wordsOfTest(
  field: string,
  test: StoredTest,
  libraries: ReadonlyMap<string, string>,
): string {
  const { value, values, min, max, start, end } = test
  const name = textOr(fieldKey(field), field)
  const operator = operatorOf(test)
  const isNullTest = operator === 'isNull' || operator === 'isNotNull'
  const shown = (operand: unknown) => valueText(field, operand, libraries)
  const operands = isNullTest
    ? []
    : operator === 'between'
      ? [t('rule.range', { from: shown(min ?? start) || '…', to: shown(max ?? end) || '…' })]
      : (values ?? [value]).map(shown).filter(Boolean)
  return [name, textOr(`rule.operator.${operator}` as TextKey, operator), operands.join(', ')]
    .filter(Boolean)
    .join(' ')
}

function valueText(field: string, value: unknown, libraries: ReadonlyMap<string, string>): string {
  if (value === undefined || value === null) return ''
  if (typeof value === 'number')
    return ratingFields.includes(field) ? starsText(value) : plainNumber(value)
  if (typeof value === 'boolean') return t(value ? 'label.yes' : 'label.no')
  const text = String(value)
  if (/^\d{4}-\d{2}-\d{2}(?:T|$)/.test(text) && !Number.isNaN(Date.parse(text)))
    return formatDate(text.length === 10 ? `${text}T00:00` : text)
  return libraries.get(text) ?? choiceText(field, text) ?? t('filter.text', { text })
}

/** The text of an enumerated value; null for other fields. */
export function choiceText(field: string, value: string): string | null {
  if (field === 'format') return value.toUpperCase()
  const key = valueKey(field, value)
  return (key && textOr(key, '')) || null
}

/** Years have no thousands separator. */
const plainNumber = (value: number) => formatNumber(value, { useGrouping: false })

/** A rating of 1 to 100 as stars, such as “3.5 ★”. */
export const starsText = (rating: number): string =>
  t('rating.short', { stars: formatNumber(rating / perStar, { maximumFractionDigits: 2 }) })
