// Filters of series lists: their fields, and their text in the address of a page.
import type { TextKey } from '../../text/translate.ts'

/**
 * `label`: values of a list of the server; `choice`: a few known values; `flag`: yes or no; `stars`: a range of up to
 * five stars.
 */
export type FilterField = {
  name: FilterName
  kind: 'label' | 'choice' | 'text' | 'flag' | 'range' | 'stars'
  text: TextKey
  /** Of `choice`. */
  values?: readonly string[]
  /** Of interest to those who maintain libraries. */
  isForMaintainers?: boolean
}

/** Names of parameters in the address. */
export type FilterName =
  | 'library'
  | 'readStatus'
  | 'genre'
  | 'tag'
  | 'status'
  | 'publisher'
  | 'language'
  | 'author'
  | 'year'
  | 'format'
  | 'direction'
  | 'age'
  | 'books'
  | 'pages'
  | 'rating'
  | 'complete'
  | 'want'
  | 'rated'
  | 'collected'
  | 'tracked'
  | 'oneShot'
  | 'error'
  | 'missing'

export const filterFields: readonly FilterField[] = [
  { name: 'library', kind: 'label', text: 'filter.library' },
  {
    name: 'readStatus',
    kind: 'choice',
    text: 'filter.readStatus',
    values: ['unread', 'in_progress', 'read'],
  },
  {
    name: 'status',
    kind: 'choice',
    text: 'filter.status',
    values: ['ongoing', 'ended', 'hiatus', 'abandoned'],
  },
  { name: 'genre', kind: 'label', text: 'filter.genre' },
  { name: 'tag', kind: 'label', text: 'filter.tag' },
  { name: 'publisher', kind: 'text', text: 'filter.publisher' },
  { name: 'author', kind: 'text', text: 'filter.author' },
  { name: 'language', kind: 'text', text: 'filter.language' },
  { name: 'year', kind: 'range', text: 'filter.year' },
  {
    name: 'format',
    kind: 'choice',
    text: 'filter.format',
    values: ['cbz', 'cbr', 'cb7', 'cbt', 'epub', 'pdf'],
  },
  {
    name: 'direction',
    kind: 'choice',
    text: 'filter.direction',
    values: ['ltr', 'rtl', 'ttb', 'webtoon'],
  },
  { name: 'age', kind: 'range', text: 'filter.age' },
  { name: 'books', kind: 'range', text: 'filter.books' },
  { name: 'pages', kind: 'range', text: 'filter.pages' },
  { name: 'rating', kind: 'stars', text: 'filter.rating' },
  { name: 'complete', kind: 'flag', text: 'filter.complete' },
  { name: 'want', kind: 'flag', text: 'filter.want' },
  { name: 'rated', kind: 'flag', text: 'filter.rated' },
  { name: 'collected', kind: 'flag', text: 'filter.collected' },
  { name: 'tracked', kind: 'flag', text: 'filter.tracked' },
  { name: 'oneShot', kind: 'flag', text: 'filter.oneShot' },
  { name: 'error', kind: 'flag', text: 'filter.error', isForMaintainers: true },
  { name: 'missing', kind: 'flag', text: 'filter.missing', isForMaintainers: true },
]

export type FilterChoice = { value: string; isExcluded: boolean }
/** A range, also of stars, is one choice, `from-to`, either of which may be empty; a flag is `yes` or `no`. */
export type Filters = {
  fields: Partial<Record<FilterName, readonly FilterChoice[]>>
  /** Searched in titles and summaries. */
  text: string
  /** A condition that the fields cannot express, as JSON: of a preset. */
  condition: string
}

export const noFilters: Filters = { fields: {}, text: '', condition: '' }

const excludedSuffix = '.not'

export function filtersOf(query: URLSearchParams): Filters {
  const fields: Filters['fields'] = {}
  for (const { name } of filterFields) {
    const choices = [
      ...query.getAll(name).map(value => ({ value, isExcluded: false })),
      ...query.getAll(name + excludedSuffix).map(value => ({ value, isExcluded: true })),
    ].filter(({ value }) => value !== '')
    if (choices.length > 0) fields[name] = choices
  }
  return { fields, text: query.get('q') ?? '', condition: query.get('condition') ?? '' }
}

/** The query of the address with other filters. */
export function withFilters(query: URLSearchParams, filters: Filters): URLSearchParams {
  const next = new URLSearchParams(query)
  for (const { name } of filterFields) {
    next.delete(name)
    next.delete(name + excludedSuffix)
    for (const { value, isExcluded } of filters.fields[name] ?? [])
      next.append(isExcluded ? name + excludedSuffix : name, value)
  }
  for (const name of ['q', 'condition']) next.delete(name)
  if (filters.text) next.set('q', filters.text)
  if (filters.condition) next.set('condition', filters.condition)
  return next
}

/** How many choices there are. */
export const countFilters = (filters: Filters): number =>
  Object.values(filters.fields).reduce((sum, choices) => sum + choices.length, 0) +
  (filters.text ? 1 : 0) +
  (filters.condition ? 1 : 0)

/** Replaces the choices of a field; an empty list removes them. */
export function withChoices(
  filters: Filters,
  name: FilterName,
  choices: readonly FilterChoice[],
): Filters {
  const fields = { ...filters.fields }
  if (choices.length > 0) fields[name] = choices
  else delete fields[name]
  return { ...filters, fields }
}
