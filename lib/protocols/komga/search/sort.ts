// Komga's sort properties as sort orders of the catalog. Unknown properties are ignored.

import type { BookSort, Direction, SeriesSort, SeriesSortKey } from '../../../list/sort.ts'
import type { BookKey } from '../../../list/sql/book-order.ts'

export type SortProperty = { property: string; isDescending: boolean }

const seriesSorts: Readonly<Record<string, SeriesSort>> = {
  'metadata.titleSort': 'title',
  name: 'filename',
  created: 'created',
  createdDate: 'created',
  lastModified: 'updated',
  lastModifiedDate: 'updated',
  'booksMetadata.releaseDate': 'released',
  readDate: 'read',
  booksCount: 'books',
  'collection.number': 'position',
  random: 'random',
  relevance: 'relevance',
}

const bookSorts: Readonly<Record<string, BookKey['sort'] | 'relevance'>> = {
  name: 'filename',
  series: 'series',
  created: 'created',
  createdDate: 'created',
  lastModified: 'updated',
  lastModifiedDate: 'updated',
  fileLastModified: 'modified',
  fileSize: 'size',
  size: 'size',
  fileHash: 'fileHash',
  url: 'path',
  'media.status': 'errorCode',
  'media.comment': 'errorMessage',
  'media.mediaType': 'format',
  'media.pagesCount': 'pages',
  'metadata.title': 'title',
  'metadata.numberSort': 'number',
  'metadata.releaseDate': 'released',
  'readProgress.lastModified': 'read',
  'readProgress.readDate': 'read',
  'readList.number': 'position',
  random: 'random',
  relevance: 'relevance',
}
// Sort orders without an index.
const ownSorts: readonly string[] = [
  'errorCode',
  'errorMessage',
  'fileHash',
  'format',
  'path',
  'position',
  'random',
] satisfies BookKey['sort'][]

const readingKeys = ['volume', 'number', 'filename'] as const

const maxKeys = 8

const directionOf = (isDescending: boolean): Direction => (isDescending ? 'desc' : 'asc')

function known<Sort extends string>(
  sorts: Readonly<Record<string, Sort>>,
  properties: readonly SortProperty[],
) {
  return properties
    .flatMap(({ property, isDescending }) =>
      Object.hasOwn(sorts, property)
        ? [{ sort: sorts[property]!, direction: directionOf(isDescending) }]
        : [],
    )
    .slice(0, maxKeys)
}

type SeriesOrder = {
  sort: SeriesSort | undefined
  direction: Direction
  then: readonly SeriesSortKey[]
}

/** `collectionId`: the collection whose order is available; without one, sorting by it is ignored. */
export function seriesOrder(
  properties: readonly SortProperty[],
  collectionId: string | undefined,
): SeriesOrder {
  const keys = known(seriesSorts, properties).filter(
    ({ sort }) => sort !== 'position' || collectionId !== undefined,
  )
  const [first, ...others] = keys
  const then = others.flatMap(({ sort, direction }) =>
    sort === 'relevance' ? [] : [{ sort, direction }],
  )
  return { sort: first?.sort, direction: first?.direction ?? 'asc', then }
}

type BookOrder = { sort?: BookSort | undefined; direction?: Direction; keys?: BookKey[] }
type BookScope = {
  seriesId: string | undefined
  readListId: string | undefined
  seed: number
}

/** The sort order of a list of books, one with an index if possible. */
export function bookOrder(
  properties: readonly SortProperty[],
  { seriesId, readListId, seed }: BookScope,
): BookOrder {
  const all = known(bookSorts, properties).filter(
    ({ sort }) => sort !== 'position' || readListId !== undefined,
  )
  const [first, second] = all
  if (!first || first.sort === 'relevance') return { sort: first && 'relevance', direction: 'asc' }
  // Within a series, sorting by number is the reading order.
  const isInSeries = seriesId !== undefined || all.some(({ sort }) => sort === 'series')
  const keys = all.flatMap(({ sort, direction }): BookKey[] => {
    if (sort === 'relevance') return []
    const parts = sort === 'number' && isInSeries ? readingKeys : [sort]
    return parts.map(part => ({ sort: part, direction, readListId, seed }))
  })
  const isReadingOrder =
    all.length === 2 &&
    first.sort === 'series' &&
    second!.sort === 'number' &&
    first.direction === second!.direction
  if ((all.length > 1 && !isReadingOrder) || ownSorts.includes(first.sort)) return { keys }
  return { sort: first.sort as BookSort, direction: first.direction }
}
