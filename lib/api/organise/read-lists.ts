// Read lists: books of any series in an order.
import { requireBook } from '../../catalog/book/book-record.ts'
import { booksOfReadList, readListSorts } from '../../catalog/grouping/contents.ts'
import { readLists as grouping } from '../../catalog/grouping/grouping.ts'
import { count, maybe, nullable, oneOf, record, Type, timestamp, uuid } from '../../schema.ts'
import { books } from '../books/book-lists.ts'
import { listRoutes } from '../list/list-routes.ts'
import { ReadListId } from '../params.ts'
import type { RouteKind } from './grouping-kind.ts'
import { containingRoutes, memberRoutes } from './grouping-members.ts'
import { readRoutes, writeRoutes } from './grouping-routes.ts'

export const ReadList = record(
  {
    id: uuid(),
    name: Type.String(),
    summary: nullable(Type.String()),
    ordered: Type.Boolean({ description: 'Whether the order is chosen by hand.' }),
    bookCount: count({ description: 'Books that the caller sees.' }),
    createdAt: timestamp(),
    updatedAt: timestamp(),
  },
  { component: 'ReadList' },
)

const kind: RouteKind = {
  grouping,
  ...{ one: 'ReadList', many: 'ReadLists', noun: 'read list', path: '/readlists' },
  ...{ memberPath: '/books', idsKey: 'bookIds' },
  item: ReadList,
  toItem: ({ rule: _rule, count, ...row }) => ({ ...row, bookCount: count }),
  settings: {},
  change: () => ({}),
  permissions: {
    read: 'ReadListsRead',
    write: 'ReadListsWrite',
    remove: 'ReadListsDelete',
    members: 'BooksRead',
  },
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
      description: 'An array has at most 500 books; request pages for more.',
      params: ReadListId,
      query: {
        sort: maybe(
          oneOf(readListSorts, {
            description: 'By default `manual` for an ordered read list, else `release`.',
          }),
        ),
        direction: maybe(
          oneOf(['asc', 'desc'], { default: 'asc', description: 'Direction of the order.' }),
        ),
      },
      arrayLength: 500,
      find: ({ sql, viewer, identity, params, query, page, pageSize }) =>
        booksOfReadList(sql, viewer, {
          ...{ id: params.id, withEmpty: identity.permissions.has('ReadListsWrite') },
          ...{ sort: query.sort, direction: query.direction, page, pageSize },
        }),
    },
  ),
]
