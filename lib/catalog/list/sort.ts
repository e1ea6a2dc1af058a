// The orders that lists can be asked for (api-specification §4, rest-contract §1.2).

const bookNames = {
  title: 'title',
  name: 'title',
  series: 'series',
  number: 'number',
  chapter_number: 'number',
  created_at: 'created',
  date_added: 'created',
  modified_at: 'modified',
  updated_at: 'updated',
  date_updated: 'updated',
  release_date: 'released',
  year: 'released',
  file_size: 'size',
  filename: 'filename',
  page_count: 'pages',
  last_read: 'read',
  read_date: 'read',
  date_read: 'read',
  relevance: 'relevance',
  score: 'relevance',
} as const

const seriesNames = {
  name: 'title',
  title: 'title',
  date_added: 'created',
  created_at: 'created',
  date_updated: 'updated',
  updated_at: 'updated',
  modified_at: 'updated',
  release_date: 'year',
  year: 'year',
  date_read: 'read',
  last_read: 'read',
  read_date: 'read',
  book_count: 'books',
  file_size: 'size',
  filename: 'filename',
  page_count: 'pages',
  relevance: 'relevance',
  score: 'relevance',
} as const

export type BookSort = (typeof bookNames)[keyof typeof bookNames]
export type SeriesSort = (typeof seriesNames)[keyof typeof seriesNames]
export type Direction = 'asc' | 'desc'
/** Without `sort` the list's own order: by relevance where a text is looked for, else by title. */
export type Order<Sort> = { sort: Sort | undefined; direction: Direction }

/** `field,direction`, or `field` with the direction apart. What is not known falls back to the list's own order. */
export function parseBookSort(sort?: string, order?: string): Order<BookSort> {
  return parse(bookNames, sort, order)
}

/** As parseBookSort. */
export function parseSeriesSort(sort?: string, order?: string): Order<SeriesSort> {
  return parse(seriesNames, sort, order)
}

function parse<Sort extends string>(
  names: Record<string, Sort>,
  sort = '',
  order = '',
): Order<Sort> {
  const [field = '', inline] = sort
    .trim()
    .toLowerCase()
    .split(',', 2)
    .map(part => part.trim())
  const direction = inline || order.trim().toLowerCase() || 'asc'
  if (direction !== 'asc' && direction !== 'desc') return { sort: undefined, direction: 'asc' }
  if (field === '') return { sort: undefined, direction }
  if (!Object.hasOwn(names, field)) return { sort: undefined, direction: 'asc' }
  return { sort: names[field], direction }
}

/** Names that the query parameter takes, for its documentation. */
export const bookSortNames = Object.keys(bookNames)
export const seriesSortNames = Object.keys(seriesNames)
