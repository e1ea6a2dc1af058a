// Address of a series list: sort order and filters as parameters.
import { address, navigate } from '../../routing/router.ts'
import { type Filters, withFilters } from './filter-fields.ts'

export const sortFields = [
  'title',
  'date_added',
  'date_updated',
  'release_date',
  'date_read',
  'book_count',
  'page_count',
  'file_size',
  'rating',
] as const
export type SortField = (typeof sortFields)[number]
export type SortOrder = 'asc' | 'desc'
export type SeriesSort = `${SortField},${SortOrder}`

/** The order that is most useful for a field: newest and largest first. */
export const usualOrder = (field: SortField): SortOrder => (field === 'title' ? 'asc' : 'desc')

export function seriesSortOf(query: URLSearchParams): SeriesSort {
  const [name, order] = (query.get('sort') ?? '').split(',')
  const field = sortFields.find(known => known === name) ?? 'title'
  return `${field},${order === 'asc' || order === 'desc' ? order : usualOrder(field)}`
}

export const partsOfSort = (sort: SeriesSort) => sort.split(',') as [SortField, SortOrder]

/** Shows the list with other filters. */
export function openFilters(filters: Filters, sort?: string | null) {
  const query = withFilters(address.value.query, filters)
  if (sort) query.set('sort', sort)
  const text = query.toString()
  navigate(address.value.path + (text && `?${text}`))
}
