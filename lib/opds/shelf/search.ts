// Search shelf. Search results are books only (OPDS 1.2 §3); matching series are a related feed.
import { listBooks } from '../../catalog/list/list-books.ts'
import { maybe, text } from '../../schema.ts'
import { acquisitionFeed } from '../feed.ts'
import { publicationsByIds } from '../publication.ts'
import { maxSearchLength, pagingOf, type Shelf, searchRef, searchText } from './shelf.ts'

// No one pages further, and a word that occurs in half of a million books is found at once.
const maxResults = 1_000
const words = maybe(
  text(maxSearchLength, { description: 'Words of titles, series, authors or tags.' }),
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
    const { ids, total } = await listBooks(sql, viewer, {
      ...{ filter: null, text: search, maxResults },
      ...{ page, pageSize },
    })
    const { path, query: canonicalQuery } = searchRef(version, search)
    return acquisitionFeed({
      path,
      query: canonicalQuery,
      title: `Books matching “${search}”`,
      paging: pagingOf(request, total),
      books: await publicationsByIds(sql, viewer, ids),
      related: [
        { path: '/series', query: { search }, title: 'Matching series', kind: 'navigation' },
      ],
    })
  },
}
