// Filters and sort orders of lists of series and of books: their fields, and their text in the address of a page.
import type { Schemas } from '../../api/client.ts'
import {
  bookTypes,
  fileFormats,
  readingDirections,
  readStatuses,
  seriesStatuses,
} from '../../api/enumerations.ts'
import type { TextKey } from '../../text/translate.ts'

/** What a list consists of. */
export type ListKind = 'series' | 'books'

type ConditionField = Exclude<
  keyof Schemas['SeriesCondition'] | keyof Schemas['BookCondition'],
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
  /** The only kind of lists that have it. */
  of?: ListKind
  /** Shown only to library maintainers. */
  isForMaintainers?: boolean
}

const shownStatuses = seriesStatuses.filter(status => status !== 'unknown')

const fields = [
  { name: 'library', kind: 'label', field: 'libraryId' },
  { name: 'readStatus', kind: 'choice', field: 'readStatus', values: readStatuses },
  { name: 'status', kind: 'choice', field: 'status', values: shownStatuses, of: 'series' },
  { name: 'genre', kind: 'label', field: 'genre' },
  { name: 'tag', kind: 'label', field: 'tag' },
  { name: 'publisher', kind: 'label', field: 'publisher', of: 'series' },
  { name: 'author', kind: 'label', field: 'author' },
  { name: 'language', kind: 'text', field: 'language', of: 'series' },
  { name: 'year', kind: 'range', field: 'year', of: 'series' },
  { name: 'format', kind: 'choice', field: 'format', values: fileFormats },
  { name: 'type', kind: 'choice', field: 'bookType', values: bookTypes, of: 'books' },
  {
    name: 'direction',
    kind: 'choice',
    field: 'readingDirection',
    values: readingDirections,
    of: 'series',
  },
  { name: 'age', kind: 'range', field: 'ageRating', of: 'series' },
  { name: 'books', kind: 'range', field: 'bookCount', of: 'series' },
  { name: 'pages', kind: 'range', field: 'pageCount' },
  { name: 'rating', kind: 'stars', field: 'userRating' },
  { name: 'complete', kind: 'flag', field: 'completion', of: 'series' },
  { name: 'want', kind: 'flag', field: 'wantToRead' },
  { name: 'rated', kind: 'flag', field: 'hasUserRating', of: 'series' },
  { name: 'collected', kind: 'flag', field: 'inCollection' },
  { name: 'listed', kind: 'flag', field: 'inReadList', of: 'books' },
  { name: 'tracked', kind: 'flag', field: 'isTracked', of: 'series' },
  { name: 'oneShot', kind: 'flag', field: 'oneShot', of: 'series' },
  { name: 'error', kind: 'flag', field: 'hasError', isForMaintainers: true },
  { name: 'missing', kind: 'flag', field: 'hasMissing', isForMaintainers: true, of: 'series' },
] as const satisfies readonly Field[]

type Known = (typeof fields)[number]
export type FilterName = Known['name']
export type FilterField = Field & Pick<Known, 'name' | 'field'>
export const filterFields: readonly FilterField[] = fields

export const fieldsOf = (kind: ListKind): readonly FilterField[] =>
  filterFields.filter(({ of }) => of === undefined || of === kind)

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

export const excludedSuffix = '.not'

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

const seriesSorts = {
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
const bookSorts = {
  title: 'field.title',
  series: 'label.series',
  date_added: 'field.dateAdded',
  date_updated: 'field.dateUpdated',
  release_date: 'field.releaseDate',
  last_read: 'field.lastReadAt',
  page_count: 'field.pageCount',
  file_size: 'field.fileSize',
} as const satisfies Record<string, TextKey>

export type SeriesSortField = keyof typeof seriesSorts
export type BookSortField = keyof typeof bookSorts
type SortField = SeriesSortField | BookSortField
type SortOrder = 'asc' | 'desc'
export type Sort<Field extends SortField = SortField> = `${Field},${SortOrder}`

/** The fields that a kind of lists is sorted by, with their texts. */
export const sortTextsOf = (kind: ListKind): Partial<Record<SortField, TextKey>> =>
  kind === 'series' ? seriesSorts : bookSorts

export const usualSort = 'title,asc'

/** The order that is most useful for a field: newest and largest first. */
export const usualOrder = (field: SortField): SortOrder =>
  field === 'title' || field === 'series' ? 'asc' : 'desc'

export function sortOf(query: URLSearchParams, kind: ListKind): Sort {
  const [name, order] = (query.get('sort') ?? '').split(',')
  const fields = Object.keys(sortTextsOf(kind)) as SortField[]
  const field = fields.find(known => known === name) ?? 'title'
  return `${field},${order === 'asc' || order === 'desc' ? order : usualOrder(field)}`
}

export const partsOfSort = (sort: Sort) => sort.split(',') as [SortField, SortOrder]
