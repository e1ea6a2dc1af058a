// Filters of series lists: their fields, and their text in the address of a page.
import {
  fileFormats,
  readingDirections,
  readStatuses,
  seriesStatuses,
} from '../../api/enumerations.ts'
import type { TextKey } from '../../text/translate.ts'

/**
 * `label`: values listed by the server; `choice`: a few known values; `flag`: yes or no; `stars`: a range of up to
 * five stars.
 */
export type FilterField = {
  name: FilterName
  kind: 'label' | 'choice' | 'text' | 'flag' | 'range' | 'stars'
  text: TextKey
  /** Only for `choice`. */
  values?: readonly string[]
  /** Shown only to library maintainers. */
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
  { name: 'library', kind: 'label', text: 'field.libraryId' },
  {
    name: 'readStatus',
    kind: 'choice',
    text: 'field.readStatus',
    values: readStatuses,
  },
  {
    name: 'status',
    kind: 'choice',
    text: 'field.status',
    values: seriesStatuses.filter(status => status !== 'unknown'),
  },
  { name: 'genre', kind: 'label', text: 'field.genre' },
  { name: 'tag', kind: 'label', text: 'field.tag' },
  { name: 'publisher', kind: 'text', text: 'field.publisher' },
  { name: 'author', kind: 'text', text: 'field.author' },
  { name: 'language', kind: 'text', text: 'field.language' },
  { name: 'year', kind: 'range', text: 'field.year' },
  {
    name: 'format',
    kind: 'choice',
    text: 'field.format',
    values: fileFormats,
  },
  {
    name: 'direction',
    kind: 'choice',
    text: 'field.readingDirection',
    values: readingDirections,
  },
  { name: 'age', kind: 'range', text: 'field.ageRating' },
  { name: 'books', kind: 'range', text: 'field.bookCount' },
  { name: 'pages', kind: 'range', text: 'field.pageCount' },
  { name: 'rating', kind: 'stars', text: 'field.userRating' },
  { name: 'complete', kind: 'flag', text: 'field.completion' },
  { name: 'want', kind: 'flag', text: 'field.wantToRead' },
  { name: 'rated', kind: 'flag', text: 'field.hasUserRating' },
  { name: 'collected', kind: 'flag', text: 'field.inCollection' },
  { name: 'tracked', kind: 'flag', text: 'field.isTracked' },
  { name: 'oneShot', kind: 'flag', text: 'field.oneShot' },
  { name: 'error', kind: 'flag', text: 'field.hasError', isForMaintainers: true },
  { name: 'missing', kind: 'flag', text: 'field.hasMissing', isForMaintainers: true },
]

export type FilterChoice = { value: string; isExcluded: boolean }
/** A range (also of stars) is one choice, `from-to`, with either end optional; a flag is `yes` or `no`. */
export type Filters = {
  fields: Partial<Record<FilterName, readonly FilterChoice[]>>
  /** Search text for titles and summaries. */
  text: string
  /** A preset's condition that the fields cannot express, as JSON. */
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

/** The address query with other filters. */
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
