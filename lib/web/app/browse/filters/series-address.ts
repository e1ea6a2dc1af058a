// Address of a series list: sort order and filters as parameters.

import { address, navigate } from '../../routing/router.ts'
import type { TextKey } from '../../text/translate.ts'
import { type Filters, withFilters } from './filter-fields.ts'

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
