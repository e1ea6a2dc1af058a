// Search shelf. Search results contain only books (OPDS 1.2 §3); matching series are a related feed, whose first
// items are a group in OPDS 2.0.
import { maybe, text } from '../../../base/schema.ts'
import { listBooks } from '../../../list/list-books.ts'
import { listSeries } from '../../../list/list-series.ts'
import { publicationsByIds } from '../../publication/publication.ts'
import { acquisitionFeed, type FeedRef, type Group } from '../feed.ts'
import { seriesEntries } from './entry.ts'
import { groupSize } from './listing.ts'
import {
  maxSearchLength,
  pagingOf,
  type Shelf,
  type ShelfRequest,
  searchRef,
  searchText,
} from './shelf.ts'

// Users do not page further.
export const maxResults = 1_000
const words = maybe(
  text(maxSearchLength, { description: 'Words from titles, series, authors or tags.' }),
)

export const searchShelf: Shelf = {
  path: '/search',
  summary: `Search for books, at most ${maxResults}`,
  query: { q: words, query: words },
  async load(request) {
    const { sql, viewer, version, page, pageSize, query } = request
    const search = searchText(query.q ?? query.query)
    if (search === undefined)
      return acquisitionFeed({ path: '/search', title: 'Search', paging: pagingOf(request, 0) })
    const [{ ids, total }, series] = await Promise.all([
      listBooks(request, viewer, {
        ...{ filter: null, text: search, maxBooks: maxResults },
        ...{ page, pageSize },
      }),
      version === 2 && page === 1 ? matchingSeries(request, search) : null,
    ])
    const { path, query: canonicalQuery } = searchRef(version, search)
    return acquisitionFeed({
      path,
      query: canonicalQuery,
      title: `Books matching “${search}”`,
      paging: pagingOf(request, total),
      books: await publicationsByIds(sql, viewer, ids),
      related: [seriesRef(search)],
      groups: series === null ? [] : [series],
    })
  },
}

const seriesRef = (search: string): FeedRef => ({
  path: '/series',
  query: { search },
  title: 'Matching series',
  kind: 'navigation',
})

/** The first matching series; null if there are none. */
async function matchingSeries(request: ShelfRequest, search: string): Promise<Group | null> {
  const { ids, total } = await listSeries(request, request.viewer, {
    ...{ filter: null, text: search, page: 1, pageSize: groupSize },
    onlyWithVisibleBooks: true,
  })
  const entries = await seriesEntries(request, ids)
  if (entries.length === 0) return null
  return { ...seriesRef(search), kind: 'navigation', total, entries }
}
