// API conditions for the filters of a list, and filters for a stored condition or the address of a page.
import type { Schemas } from '../../api/client.ts'
import {
  excludedSuffix,
  type FilterChoice,
  type FilterField,
  type FilterName,
  type Filters,
  fieldsOf,
  filterFields,
  type ListKind,
  noFilters,
} from './filter-fields.ts'

export type Condition = Schemas['SeriesCondition'] | Schemas['BookCondition']
type Field = FilterField['field']

/**
 * Any chosen value of each field and none of the excluded ones; null without filters. `libraryId`: limits the list to this
 * library.
 */
export function conditionOf(filters: Filters, libraryId: string | null): Condition | null {
  const parts: Condition[] = libraryId === null ? [] : [test('libraryId', 'is', libraryId)]
  for (const { name, kind, field } of filterFields) {
    const choices = filters.fields[name] ?? []
    if (kind === 'flag')
      for (const { value } of choices)
        parts.push(test(field, value === 'yes' ? 'isTrue' : 'isFalse'))
    else if (kind === 'range' || kind === 'stars')
      parts.push(...choices.flatMap(({ value }) => rangeTests(field, kind, value)))
    else {
      const included = choices.filter(({ isExcluded }) => !isExcluded)
      const tests = included.map(({ value }) => test(field, 'is', value))
      if (tests.length === 1) parts.push(tests[0]!)
      else if (tests.length > 1) parts.push({ anyOf: tests })
      for (const { value, isExcluded } of choices)
        if (isExcluded) parts.push(test(field, 'isNot', value))
    }
  }
  const other = parsed(filters.condition)
  if (other) parts.push(other)
  if (parts.length === 0) return null
  return parts.length === 1 ? parts[0]! : { allOf: parts }
}

const test = (field: Field, operator: string, value?: string | number) =>
  ({ [field]: { operator, ...(value !== undefined && { value }) } }) as Condition

function rangeTests(field: Field, kind: 'range' | 'stars', range: string): Condition[] {
  const [from, to] = range.split('-', 2).map(text => (text === '' ? null : Number(text)))
  const ends = boundsOf[kind]
  return [
    ...(from != null && Number.isFinite(from) ? [test(field, 'gte', ends.gte.bound(from))] : []),
    ...(to != null && Number.isFinite(to) ? [test(field, 'lte', ends.lte.bound(to))] : []),
  ]
}

type Bound = { bound: (shown: number) => number; shown: (bound: number) => number }
const asIs: Bound = { bound: value => value, shown: value => value }
/** Ratings of 1 to 100 are shown in half stars: the lowest and highest rating with the same display. */
const boundsOf: Record<'range' | 'stars', Record<'gte' | 'lte', Bound>> = {
  range: { gte: asIs, lte: asIs },
  stars: {
    gte: { bound: stars => stars * 20 - 5, shown: bound => (bound + 5) / 20 },
    lte: { bound: stars => stars * 20 + 4, shown: bound => (bound - 4) / 20 },
  },
}

function parsed(condition: string): Condition | null {
  try {
    return condition ? JSON.parse(condition) : null
  } catch {
    return null
  }
}

/** The filters in the address of a page. */
export function filtersOf(query: URLSearchParams, kind: ListKind): Filters {
  const fields: Filters['fields'] = {}
  for (const { name } of fieldsOf(kind)) {
    const choices = [
      ...query.getAll(name).map(value => ({ value, isExcluded: false })),
      ...query.getAll(name + excludedSuffix).map(value => ({ value, isExcluded: true })),
    ].filter(({ value }) => value !== '')
    if (choices.length > 0) fields[name] = choices
  }
  const text = query.get('q') ?? ''
  const condition = query.get('condition') ?? ''
  const stored = storedFilters(condition, kind)
  const isApart = stored && Object.keys(stored.fields).every(name => !(name in fields))
  return isApart
    ? { fields: { ...fields, ...stored.fields }, text, condition: stored.condition }
    : { fields, text, condition }
}

/** The parts of a saved filter, which are shown one by one; null for a text that is no condition. */
function storedFilters(condition: string, kind: ListKind): Filters | null {
  try {
    return filtersOfCondition(parsed(condition), kind)
  } catch {
    return null
  }
}

/** The filters for a stored condition; parts they cannot express remain in `condition`. */
function filtersOfCondition(condition: Condition | null, kind: ListKind): Filters {
  let filters: Filters = noFilters
  if (!condition) return filters
  const others: Condition[] = []
  for (const part of condition.allOf ?? [condition]) {
    const choices = choicesOf(part, kind)
    if (!choices) others.push(part)
    else {
      const { name } = choices
      const merged = mergedChoices(filters.fields[name], choices)
      if (merged) filters = { ...filters, fields: { ...filters.fields, [name]: merged } }
      else others.push(part)
    }
  }
  if (others.length > 0)
    filters = {
      ...filters,
      condition: JSON.stringify(others.length === 1 ? others[0] : { allOf: others }),
    }
  return filters
}

const isRange = (kind: string) => kind === 'range' || kind === 'stars'

type NamedChoices = { name: FilterName; kind: string; choices: FilterChoice[] }

/** Null if two tests of a field cannot be one filter. */
function mergedChoices(known: readonly FilterChoice[] | undefined, next: NamedChoices) {
  if (!known) return next.choices
  if (isRange(next.kind)) {
    const [from, to] = known[0]!.value.split('-', 2)
    const [nextFrom, nextTo] = next.choices[0]!.value.split('-', 2)
    return [{ value: `${from || nextFrom}-${to || nextTo}`, isExcluded: false }]
  }
  const included = [...known, ...next.choices].filter(({ isExcluded }) => !isExcluded)
  const isJoined =
    next.choices.every(({ isExcluded }) => isExcluded) ||
    known.every(({ isExcluded }) => isExcluded)
  return isJoined || included.length === 0 ? [...known, ...next.choices] : null
}

function choicesOf(condition: Condition, kind: ListKind): NamedChoices | null {
  if (condition.anyOf) {
    const parts = condition.anyOf.map(part => choicesOf(part, kind))
    const [first] = parts
    if (!first || isRange(first.kind) || first.kind === 'flag') return null
    const isOneField = parts.every(
      part => part?.name === first.name && part.choices.every(({ isExcluded }) => !isExcluded),
    )
    return isOneField ? { ...first, choices: parts.flatMap(part => part!.choices) } : null
  }
  const [field, rule] = Object.entries(condition)[0] as [
    string,
    { operator: string; value?: unknown },
  ]
  const known = fieldsOf(kind).find(known => known.field === field)
  const value = known && choiceOf(known.kind, rule)
  return known && value ? { name: known.name, kind: known.kind, choices: [value] } : null
}

function choiceOf(
  kind: string,
  { operator, value }: { operator: string; value?: unknown },
): FilterChoice | null {
  const included = (text: string) => ({ value: text, isExcluded: false })
  if (kind === 'flag')
    return operator === 'isTrue' ? included('yes') : operator === 'isFalse' ? included('no') : null
  if (kind === 'range' || kind === 'stars') {
    if ((operator !== 'gte' && operator !== 'lte') || typeof value !== 'number') return null
    const shown = boundsOf[kind][operator].shown(value)
    // Not every rating is the end of a half star.
    if (kind === 'stars' && !Number.isInteger(shown * 2)) return null
    return included(operator === 'gte' ? `${shown}-` : `-${shown}`)
  }
  if (operator !== 'is' && operator !== 'isNot') return null
  return { value: String(value), isExcluded: operator === 'isNot' }
}
