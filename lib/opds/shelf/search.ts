// Books that words find. The result of a search is books alone (OPDS 1.2 §3); series are beside it.
import { listBooks } from '../../catalog/list/list-books.ts'
import { maybe, text } from '../../schema.ts'
import { acquisition } from '../feed.ts'
import { publicationsByIds } from '../publication.ts'
import { pagingOf, type Shelf } from './shelf.ts'
import { mostWords, searchRef, wordsOf } from './words.ts'

// Nobody turns more pages; a word that half of a million books has is found in no time.
const mostFound = 1_000
const said = maybe(text(mostWords, { description: 'Words of titles, series, authors or tags.' }))

export const searchShelf: Shelf = {
  path: '/search',
  summary: `Books that words find, ${mostFound} at most`,
  query: { q: said, query: said },
  async find(asked) {
    const { sql, viewer, version, page, pageSize, query } = asked
    const words = wordsOf(query.q ?? query.query)
    if (words === undefined)
      return acquisition({ path: '/search', title: 'Search', paging: pagingOf(asked, 0) })
    const { ids, total } = await listBooks(sql, viewer, {
      ...{ filter: null, text: words, most: mostFound },
      ...{ page, pageSize },
    })
    const { path, query: canonical } = searchRef(version, words)
    return acquisition({
      path,
      query: canonical,
      title: `Books matching “${words}”`,
      paging: pagingOf(asked, total),
      books: await publicationsByIds(sql, viewer, ids),
      related: [
        { path: '/series', query: { search: words }, title: 'Matching series', kind: 'navigation' },
      ],
    })
  },
}
