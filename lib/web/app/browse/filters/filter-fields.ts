// Filters and sort order of series lists: their fields, and their text in the address of a page.
import type { Schemas } from '../../api/client.ts'
import {
  fileFormats,
  readingDirections,
  readStatuses,
  seriesStatuses,
} from '../../api/enumerations.ts'
import type { TextKey } from '../../text/translate.ts'

type ConditionField = Exclude<
  keyof Schemas['SeriesCondition'],
  'allOf' | 'anyOf' | 'all_of' | 'any_of'
>

/**
 * `label`: values listed by the server; `choice`: a few known values; `flag`: yes or no; `stars`: a range of up to
 * five stars.
 */
type Field = {
  /** Parameter of the address. */
  name: string
  kind: 'label' | 'choice' | 'text' | 'flag' | 'range' | 'stars'
  /** In conditions of the API. */
  field: ConditionField
  /** Only for `choice`. */
  values?: readonly string[]
  /** Shown only to library maintainers. */
  isForMaintainers?: boolean
}

const shownStatuses = seriesStatuses.filter(status => status !== 'unknown')

const fields = [
  { name: 'library', kind: 'label', field: 'libraryId' },
  { name: 'readStatus', kind: 'choice', field: 'readStatus', values: readStatuses },
  { name: 'status', kind: 'choice', field: 'status', values: shownStatuses },
  { name: 'genre', kind: 'label', field: 'genre' },
  { name: 'tag', kind: 'label', field: 'tag' },
  { name: 'publisher', kind: 'text', field: 'publisher' },
  { name: 'author', kind: 'text', field: 'author' },
  { name: 'language', kind: 'text', field: 'language' },
  { name: 'year', kind: 'range', field: 'year' },
  { name: 'format', kind: 'choice', field: 'format', values: fileFormats },
  { name: 'direction', kind: 'choice', field: 'readingDirection', values: readingDirections },
  { name: 'age', kind: 'range', field: 'ageRating' },
  { name: 'books', kind: 'range', field: 'bookCount' },
  { name: 'pages', kind: 'range', field: 'pageCount' },
  { name: 'rating', kind: 'stars', field: 'userRating' },
  { name: 'complete', kind: 'flag', field: 'completion' },
  { name: 'want', kind: 'flag', field: 'wantToRead' },
  { name: 'rated', kind: 'flag', field: 'hasUserRating' },
  { name: 'collected', kind: 'flag', field: 'inCollection' },
  { name: 'tracked', kind: 'flag', field: 'isTracked' },
  { name: 'oneShot', kind: 'flag', field: 'oneShot' },
  { name: 'error', kind: 'flag', field: 'hasError', isForMaintainers: true },
  { name: 'missing', kind: 'flag', field: 'hasMissing', isForMaintainers: true },
] as const satisfies readonly Field[]

type Known = (typeof fields)[number]
export type FilterName = Known['name']
export type FilterField = Field & Pick<Known, 'name' | 'field'>
export const filterFields: readonly FilterField[] = fields

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

export const sortTexts = {
  title: 'field.title',
  date_added: 'field.dateAdded',
  date_updated: 'field.dateUpdated',
  release_date: 'field.releaseDate',
  date_read: 'field.lastReadAt',
  book_count: 'field.bookCount',
  page_count: 'field.pageCount',
  file_size: 'field.fileSize',
  rating: 'field.userRating',
} as const satisfies Record<string, TextKey>
export type SortField = keyof typeof sortTexts
export const sortFields = Object.keys(sortTexts) as readonly SortField[]
type SortOrder = 'asc' | 'desc'
export type SeriesSort = `${SortField},${SortOrder}`

/** The order that is most useful for a field: newest and largest first. */
export const usualOrder = (field: SortField): SortOrder => (field === 'title' ? 'asc' : 'desc')

export function seriesSortOf(query: URLSearchParams): SeriesSort {
  const [name, order] = (query.get('sort') ?? '').split(',')
  const field = sortFields.find(known => known === name) ?? 'title'
  return `${field},${order === 'asc' || order === 'desc' ? order : usualOrder(field)}`
}

export const partsOfSort = (sort: SeriesSort) => sort.split(',') as [SortField, SortOrder]
