// Shelves of series: all, recently added or updated, in a library, and by search words, publisher, genre
// or tag.
import { maybe, text, uuid } from '../../../base/schema.ts'
import { labelKey } from '../../../catalog/label/label.ts'
import { libraryName } from '../../../catalog/library/library.ts'
import { parseSeriesFilter } from '../../../list/condition.ts'
import { listSeries, type SeriesListFilter } from '../../../list/list-series.ts'
import type { OpdsVersion } from '../../publication/catalog-path.ts'
import { catalogRoot, type FeedRef, navigationFeed } from '../feed.ts'
import { libraries, libraryRef, seriesEntries } from './entry.ts'
import { type Listing, maxLatest } from './listing.ts'
import {
  maxSearchLength,
  pagingOf,
  type Shelf,
  type ShelfRequest,
  searchRef,
  searchText,
} from './shelf.ts'

const latest = (sort: 'created' | 'updated'): Listing['list'] => {
  const options = { sort, direction: 'desc', filter: null, onlyWithVisibleBooks: true } as const
  return async ({ sql, services, viewer, page, pageSize, ...request }) => {
    const remaining = Math.max(maxLatest - (page - 1) * pageSize, 0)
    const window = { page: remaining > 0 ? page : 1, pageSize }
    const { ids, total } = await listSeries({ sql, services }, viewer, {
      ...{ ...request, ...options, ...window },
    })
    return { ids: ids.slice(0, remaining), total: Math.min(total, maxLatest) }
  }
}

export const newSeries: Listing = {
  kind: 'navigation',
  path: '/series/recent',
  title: 'New series',
  summary: `Recently added series, at most ${maxLatest}`,
  list: latest('created'),
}

export const updatedSeries: Listing = {
  kind: 'navigation',
  path: '/series/updated',
  title: 'Updated series',
  summary: `Recently updated series, at most ${maxLatest}`,
  list: latest('updated'),
}

export const allSeries: FeedRef = { path: '/series', title: 'All series', kind: 'navigation' }
export const publishers: FeedRef = { path: '/publishers', title: 'Publishers', kind: 'navigation' }
export const genres: FeedRef = { path: '/genres', title: 'Genres', kind: 'navigation' }
export const tags: FeedRef = { path: '/tags', title: 'Tags', kind: 'navigation' }

const nameFilter = (label: string) =>
  maybe(text(maxSearchLength, { description: `Limits the list to this ${label}.` }))

export const seriesShelf: Shelf = {
  path: '/series',
  summary: 'Series by title; search results by relevance',
  query: {
    search: maybe(
      text(maxSearchLength, { description: 'Words from titles, authors, genres or tags.' }),
    ),
    publisher: nameFilter('publisher'),
    genre: nameFilter('genre'),
    tag: nameFilter('tag'),
    libraryId: maybe(uuid({ description: 'Limits the list to this library.' })),
  },
  async load(request) {
    const { publisher, genre, tag, libraryId } = request.query
    const search = searchText(request.query.search)
    const filter = allOf({ publisher, genre: genre && labelKey(genre), tag: tag && labelKey(tag) })
    const [library, { entries, paging }] = await Promise.all([
      libraryId ? libraryName(request.sql, request.viewer, libraryId) : null,
      loadSeries(request, { filter, text: search, libraryId }),
    ])
    return navigationFeed({
      ...allSeries,
      query: { search, publisher, genre, tag, libraryId },
      title: titleFor({ search, publisher, genre, tag, library: library?.name }),
      up: library ? libraryRef(library) : parentOf(request.query),
      paging,
      entries,
      related: search === undefined ? [] : [searchRef(request.version, search)],
    })
  },
}

/** The series of a library: the library itself in OPDS 1.2, a feed below its home in OPDS 2.0. */
export const libraryShelves: Shelf[] = [
  libraryShelf('/libraries/{id}', 1),
  libraryShelf('/libraries/{id}/browse', 2),
]

function libraryShelf(path: string, version: OpdsVersion): Shelf {
  return {
    path,
    summary: 'The series of a library',
    onlyVersion: version,
    params: { id: uuid({ description: 'Library id.' }) },
    async load(request) {
      const id = request.params.id!
      const [library, { entries, paging }] = await Promise.all([
        libraryName(request.sql, request.viewer, id),
        loadSeries(request, { filter: null, libraryId: id }),
      ])
      return navigationFeed({
        ...{ path: path.replace('{id}', id), title: library.name, updatedAt: library.updatedAt },
        ...(version === 1 ? { id, up: libraries } : { up: libraryRef(library) }),
        ...{ paging, entries },
      })
    },
  }
}

async function loadSeries(request: ShelfRequest, filter: SeriesListFilter) {
  const { viewer, page, pageSize } = request
  const { ids, total } = await listSeries(request, viewer, {
    ...{ ...filter, page, pageSize },
    onlyWithVisibleBooks: true,
  })
  return { entries: await seriesEntries(request, ids), paging: pagingOf(request, total) }
}

/** A filter for all given values; null if there are none. Throws Invalid for a value that cannot be a name. */
function allOf(values: Record<string, string | undefined>) {
  const conditions = Object.entries(values).flatMap(([field, value]) =>
    value === undefined ? [] : [{ [field]: { operator: 'is', value } }],
  )
  return conditions.length === 0 ? null : parseSeriesFilter({ allOf: conditions })
}

function titleFor({ search, library, ...labels }: Record<string, string | undefined>): string {
  if (search !== undefined) return `Series matching “${search}”`
  const given = Object.entries(labels).filter(([, value]) => value !== undefined)
  const title = given.map(([label, value]) => `${capitalize(label)}: ${value}`).join(', ')
  return (title || allSeries.title) + (library === undefined ? '' : ` in ${library}`)
}

const capitalize = (word: string) => word[0]!.toUpperCase() + word.slice(1)

function parentOf({ publisher, genre, tag }: ShelfRequest['query']): FeedRef {
  if (publisher !== undefined) return publishers
  if (genre !== undefined) return genres
  return tag === undefined ? catalogRoot : tags
}
