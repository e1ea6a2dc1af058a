// Shelf of one series: its books in reading order, with facets for reading status, tags and sort order.
import { Invalid, NotFound } from '../../../base/errors.ts'
import { maybe, oneOf, text, uuid } from '../../../base/schema.ts'
import {
  type BookSelection,
  type SelectionSort,
  selectBooks,
  selectionSorts,
} from '../../../catalog/series/book-selection.ts'
import { seriesById } from '../../../catalog/series/series-record.ts'
import { type ReadStatus, readStatuses } from '../../../list/fields.ts'
import type { Query } from '../../publication/links.ts'
import { publicationsByIds } from '../../publication/publication.ts'
import { acquisitionFeed, type FacetGroup } from '../feed.ts'
import { allSeries } from './series-list.ts'
import { maxSearchLength, pagingOf, type Shelf } from './shelf.ts'

export const oneSeries: Shelf = {
  path: '/series/{id}',
  summary: 'The books of a series, by number',
  params: { id: uuid({ description: 'Series id.' }) },
  query: {
    read: maybe(oneOf(readStatuses, { description: 'Limits the list to this reading status.' })),
    tag: maybe(text(maxSearchLength, { description: 'Limits the list to this tag.' })),
    sort: maybe(oneOf(selectionSorts, { default: 'number', description: 'Sort order.' })),
  },
  async load(request) {
    const { sql, viewer, params, page, pageSize } = request
    const { read = null, tag = null, sort = 'number' } = request.query as Parameters
    if (tag?.includes('\0')) throw new Invalid('The tag contains a null character')
    const seriesId = params.id!
    const [series, selection] = await Promise.all([
      seriesById(sql, viewer, seriesId),
      selectBooks(sql, viewer, { seriesId, readStatus: read, tag, sort, page, pageSize }),
    ])
    // Hidden if none of its books is visible.
    if (series.bookCount === 0) throw new NotFound('Series not found')
    const selectedTag = selection.tags.find(({ isSelected }) => isSelected)?.name ?? tag
    return acquisitionFeed({
      path: `/series/${series.id}`,
      query: toQuery({ read, tag: selectedTag, sort }),
      ...{ id: series.id, title: series.title, up: allSeries, isMixed: false },
      updatedAt: new Date(series.updatedAt),
      paging: pagingOf(request, selection.total),
      books: await publicationsByIds(sql, viewer, selection.ids),
      facets: facetsOf(selection, { read, tag, sort }),
    })
  },
}

type Parameters = { read?: ReadStatus; tag?: string; sort?: SelectionSort }
type Current = { read: ReadStatus | null; tag: string | null; sort: SelectionSort }

const toQuery = ({ read, tag, sort }: Current): Query => ({
  read: read ?? undefined,
  tag: tag ?? undefined,
  sort: sort === 'number' ? undefined : sort,
})

const readNames = { unread: 'Unread', in_progress: 'In progress', read: 'Read' } as const
const sortNames = { number: 'Number', newest: 'Newest', title: 'Title' } as const

function facetsOf(selection: BookSelection, current: Current): FacetGroup[] {
  const { countByStatus, countWithAnyTag, total } = selection
  const facet = (title: string, change: Partial<Current>, count: number) => {
    const next = { ...current, ...change }
    const changedKeys = Object.keys(change) as (keyof Current)[]
    const isActive = changedKeys.every(key => next[key] === current[key])
    return { title, query: toQuery(next), count, isActive }
  }
  const statusFacets = [
    facet('All', { read: null }, countByStatus.all),
    ...readStatuses.map(read => facet(readNames[read], { read }, countByStatus[read])),
  ]
  const tagFacets = tagsOf(selection, current).map(tag =>
    tag.isSelected
      ? { ...facet(tag.name, {}, tag.count), isActive: true }
      : facet(tag.name, { tag: tag.name }, tag.count),
  )
  const sortFacets = selectionSorts.map(sort => facet(sortNames[sort], { sort }, total))
  return [
    { title: 'Read status', facets: statusFacets },
    // A group with only "All" offers no choice.
    ...(tagFacets.length > 0
      ? [{ title: 'Tag', facets: [facet('All', { tag: null }, countWithAnyTag), ...tagFacets] }]
      : []),
    { title: 'Sort', facets: sortFacets },
  ]
}

/** Tags with results, and the selected one even if it has none. */
function tagsOf({ tags }: BookSelection, { tag }: Current): BookSelection['tags'] {
  const displayed = tags.filter(({ count, isSelected }) => count > 0 || isSelected)
  const isIncluded = tag === null || displayed.some(({ isSelected }) => isSelected)
  return isIncluded ? displayed : [...displayed, { name: tag, count: 0, isSelected: true }]
}
