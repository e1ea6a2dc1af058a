// What is on the shelves of the catalogues, in the order of the root.
import { booksBegun } from '../../catalog/next.ts'
import { acquisition, navigation } from '../../opds/feed.ts'
import { publicationsByIds } from '../../opds/publication.ts'
import { type Shelf, shelfRoutes } from './feeds.ts'

const shelves: Shelf[] = [
  {
    path: '',
    summary: 'The root of the catalogue',
    find: async () => navigation({ path: '', title: 'Catalogue', up: null }),
  },
  {
    path: '/keep-reading',
    summary: 'Books that the caller is reading',
    async find({ sql, viewer, page, pageSize }) {
      const { ids, total } = await booksBegun(sql, viewer, { page, pageSize })
      const books = await publicationsByIds(sql, viewer, ids)
      const title = 'Keep reading'
      return acquisition({ path: '/keep-reading', title, books, paging: { page, pageSize, total } })
    },
  },
]

export const shelfFeeds = shelves.flatMap(shelfRoutes)
