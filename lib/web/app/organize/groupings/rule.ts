// Collection rules as groups of tests for the form. Parts the form cannot show remain unchanged.
import {
  fileFormats,
  readingDirections,
  readStatuses,
  seriesStatuses,
} from '../../api/enumerations.ts'
import {
  entryOf,
  isGroup,
  operatorOf,
  ratingFields,
  type StoredCondition,
  type StoredTest,
} from './rule-words.ts'

/** Kind of value, or the list of choices. */
export const ruleFields = {
  genre: 'text',
  tag: 'text',
  author: 'text',
  publisher: 'text',
  title: 'text',
  language: 'text',
  path: 'text',
  status: seriesStatuses,
  format: fileFormats,
  readingDirection: readingDirections,
  year: 'number',
  ageRating: 'number',
  bookCount: 'number',
  pageCount: 'number',
  libraryId: 'library',
  readStatus: readStatuses,
  userRating: 'stars',
  communityRating: 'stars',
  dateAdded: 'date',
  lastReadAt: 'date',
  completion: 'flag',
  oneShot: 'flag',
  wantToRead: 'flag',
  isTracked: 'flag',
  hasError: 'flag',
  hasMissing: 'flag',
} as const satisfies Record<string, Kind | readonly string[]>
type Kind = 'text' | 'number' | 'stars' | 'date' | 'library' | 'flag'
export type RuleField = keyof typeof ruleFields

export type Test = { field: RuleField; operator: string; value: string }
export type Group = { join: 'allOf' | 'anyOf'; parts: readonly Part[] }
/** `fixed`: a condition that the form cannot edit. */
export type Part = Test | Group | { fixed: StoredCondition }

const operators: Record<Kind | 'choice', readonly string[]> = {
  text: ['is', 'isNot', 'contains', 'doesNotContain', 'beginsWith', 'endsWith'],
  number: ['gte', 'lte', 'eq', 'ne', 'gt', 'lt'],
  stars: ['gte', 'lte', 'eq', 'ne', 'gt', 'lt'],
  date: ['onOrAfter', 'before'],
  library: ['is', 'isNot'],
  flag: ['isTrue', 'isFalse'],
  choice: ['is', 'isNot'],
}
const nullOperators = ['isNull', 'isNotNull']
const neverNull: readonly RuleField[] = ['title', 'status', 'libraryId', 'readStatus', 'dateAdded']

const kindOf = (field: RuleField): Kind | 'choice' => {
  const kind: Kind | readonly string[] = ruleFields[field]
  return typeof kind === 'string' ? kind : 'choice'
}

export function operatorsOf(field: RuleField): readonly string[] {
  const kind = kindOf(field)
  const known = operators[kind]
  const isNullable = kind !== 'flag' && !neverNull.includes(field)
  return isNullable ? [...known, ...nullOperators] : known
}

export const newTest = (field: RuleField): Test => ({
  field,
  operator: operatorsOf(field)[0]!,
  value: '',
})

export const hasValue = ({ field, operator }: Test) =>
  kindOf(field) !== 'flag' && !nullOperators.includes(operator)

export function isComplete(part: Part): boolean {
  if ('parts' in part) return part.parts.length > 0 && part.parts.every(isComplete)
  return 'fixed' in part || !hasValue(part) || part.value.trim() !== ''
}

/** The condition of a group; a single part stands without the group. */
export function conditionOf({ join, parts }: Group): StoredCondition {
  const conditions = parts.map(conditionOfPart)
  return conditions.length === 1 ? conditions[0]! : { [join]: conditions }
}

function conditionOfPart(part: Part): StoredCondition {
  if ('fixed' in part) return part.fixed
  if ('parts' in part) return { [part.join]: part.parts.map(conditionOfPart) }
  const { field, operator, value } = part
  if (!hasValue(part)) return { [field]: { operator } }
  const kind = kindOf(field)
  const isNumber = kind === 'number' || kind === 'stars'
  return { [field]: { operator, value: isNumber ? Number(value) : value.trim() } }
}

/** The outermost group of a condition. */
export function groupOf(condition: StoredCondition): Group {
  const part = partOf(condition)
  return 'parts' in part ? part : { join: 'allOf', parts: [part] }
}

function partOf(condition: StoredCondition): Part {
  const [key, value] = entryOf(condition) ?? []
  if (key === undefined) return { fixed: condition }
  if (!isGroup(key)) return testOf(key, value as StoredTest) ?? { fixed: condition }
  const parts = value as StoredCondition[]
  // An empty group matches all series or none; the form would show it as incomplete.
  return parts.length === 0 ? { fixed: condition } : { join: key, parts: parts.map(partOf) }
}

function testOf(name: string, test: StoredTest): Test | null {
  if (!Object.hasOwn(ruleFields, name)) return null
  const field = name as RuleField
  const operator = operatorOf(test)
  const { operator: _, value, ...others } = test
  if (!operatorsOf(field).includes(operator) || Object.keys(others).length > 0) return null
  const shown = { field, operator, value: value == null ? '' : String(value) }
  const isShown = !hasValue(shown) || isValue(field, value)
  return isShown ? shown : null
}

/** Whether the control of a field can show a value. */
function isValue(field: RuleField, value: unknown): boolean {
  const kind: Kind | readonly string[] = ruleFields[field]
  if (kind === 'number' || kind === 'stars') return typeof value === 'number'
  if (typeof value !== 'string') return false
  if (kind === 'date') return /^\d{4}-\d{2}-\d{2}$/.test(value)
  return typeof kind === 'string' || kind.includes(value)
}

/** Half-star values, and the rule's current one. */
export function starChoices(field: RuleField, current: string): readonly number[] {
  if (!ratingFields.includes(field)) return []
  const halves = Array.from({ length: 10 }, (_, i) => (i + 1) * 10)
  const other = Number(current)
  return current === '' || halves.includes(other)
    ? halves
    : [...halves, other].sort((a, b) => a - b)
}
