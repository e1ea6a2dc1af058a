// Read lists: ordered lists of books from any series.
import { component, count, maybe, nullable, Type, timestamp, uuid } from '../../base/schema.ts'
import { requireBook } from '../../catalog/book/book-record.ts'
import { books } from '../../catalog/book/routes/book-lists.ts'
import { BookId, ReadListId } from '../../http/params.ts'
import { listRoutes, sortQuery } from '../../list/routes/list-routes.ts'
import { bookSortNames } from '../../list/sort.ts'
import { booksOfReadList, parseReadListSort, readListSorts } from '../grouping/contents.ts'
import { contentsDirection, ofReadLists, type RouteKind } from './grouping-kind.ts'
import { containingRoutes, memberRoutes, readRoutes, writeRoutes } from './grouping-routes.ts'

export const ReadList = component('ReadList', {
  id: uuid(),
  name: Type.String(),
  summary: nullable(Type.String()),
  ordered: Type.Boolean({ description: 'Whether the order is chosen by hand.' }),
  bookCount: count({ description: 'Number of books that the caller sees.' }),
  createdAt: timestamp(),
  updatedAt: timestamp(),
})

const kind: RouteKind = {
  ...ofReadLists,
  ...{ memberPath: '/books', memberParams: BookId, readMembers: 'BooksRead' },
  item: ReadList,
  toItem: ({ rule: _rule, count, ...row }) => ({ ...row, bookCount: count }),
  settings: {},
  change: () => ({}),
  requireMember: requireBook,
}

export const readLists = [
  ...readRoutes(kind),
  ...writeRoutes(kind),
  ...memberRoutes(kind),
  ...containingRoutes(kind),
  ...listRoutes(
    { ...books, permission: { all: ['BooksRead'], any: ['ReadListsRead'] } },
    {
      operationId: 'listBooksOfReadList',
      path: '/readlists/{id}/books',
      summary: 'List the books of a read list',
      description:
        'By default in the order chosen by hand, otherwise by release. An array contains at most 500 books; request pages for more.',
      params: ReadListId,
      query: {
        ...sortQuery([...new Set([...readListSorts, ...bookSortNames])]),
        direction: contentsDirection,
        libraryId: maybe(uuid({ description: 'Limits the list to this library.' })),
        seriesId: maybe(uuid({ description: 'Limits the list to this series.' })),
      },
      find: ({ sql, services, viewer, identity, params, query, page, pageSize }) =>
        booksOfReadList({ sql, services }, viewer, {
          ...{ id: params.id, withEmpty: identity.permissions.has('ReadListsWrite') },
          sorting: parseReadListSort(query.sort, query.direction ?? query.order),
          ...{ libraryId: query.libraryId, seriesId: query.seriesId, page, pageSize },
        }),
    },
  ),
]
