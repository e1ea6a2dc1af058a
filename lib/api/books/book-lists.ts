// Lists of books.
import { Book, booksByIds } from '../../catalog/book/book-record.ts'
import { parseBookFilter } from '../../catalog/list/filter.ts'
import { listBooks } from '../../catalog/list/list-books.ts'
import { bookSortNames, parseBookSort } from '../../catalog/list/sort.ts'
import { BookFull, booksFull } from '../../catalog/metadata/long-form.ts'
import { booksBegun, onDeck } from '../../catalog/progress/on-deck.ts'
import { pageOf, pageQuery, paging } from '../../http/pagination.ts'
import { route } from '../../http/route.ts'
import { body, maybe, record, Type, uuid } from '../../schema.ts'
import { conditionOnBooks } from './condition.ts'
import {
  type Asked,
  eitherPaged,
  full,
  type Kind,
  type List,
  listRoutes,
  sorting,
} from './lists.ts'

type Item = Book | BookFull
const books: Kind<Item> = {
  of: 'books',
  permission: 'BooksRead',
  short: Book,
  full: BookFull,
  byIds: ({ sql, viewer, full }, ids) => (full ? booksFull : booksByIds)(sql, viewer, ids),
}

const began = ({ sql, viewer, ...asked }: Asked) => booksBegun(sql, viewer, asked)

const lists: readonly List[] = [
  {
    path: '',
    summary: 'Books',
    takes: {
      seriesId: maybe(uuid({ description: 'Only of this series.' })),
      ...sorting(bookSortNames),
    },
    find: ({ sql, viewer, sort, order, ...asked }) =>
      listBooks(sql, viewer, { ...asked, ...parseBookSort(sort, order), filter: null }),
  },
  {
    path: '/in-progress',
    summary: 'Books that the caller is reading',
    description: 'Begun and not completed; the last read first.',
    find: began,
  },
  {
    path: '/on-deck',
    summary: 'Books to read next',
    description:
      'Of every series of which the caller has completed a book and has none unfinished, the first book that was not begun. The series that was read last comes first.',
    find: ({ sql, viewer, ...asked }) => onDeck(sql, viewer, asked),
  },
  {
    path: '/recently-added',
    summary: 'Books that came last',
    find: ({ sql, viewer, libraryId, page, pageSize }) =>
      listBooks(sql, viewer, {
        ...{ filter: null, libraryId, page, pageSize },
        ...{ sort: 'created', direction: 'desc' },
      }),
  },
  {
    path: '/recently-read',
    summary: 'Books that the caller read last',
    description: 'Completed ones too.',
    bare: 50,
    find: ({ sql, viewer, ...asked }) => booksBegun(sql, viewer, { ...asked, withCompleted: true }),
  },
]

export const bookLists = [
  ...listRoutes(books, lists),
  route({
    method: 'GET',
    path: '/progress/currently-reading',
    permission: 'BooksRead',
    summary: 'Books that the caller is reading',
    description: 'The same as /books/in-progress.',
    query: record({ ...pageQuery, libraryId: maybe(uuid()), ...full }),
    responses: { 200: eitherPaged<Item>(books) },
    async handle({ query, viewer, request, reply }, { sql }) {
      const asked = paging(query)
      const { ids, total } = await booksBegun(sql, viewer, { ...query, ...asked })
      const data = await books.byIds({ sql, viewer, full: query.full }, ids)
      return pageOf({ request, reply, query }, { data, total, paging: asked })
    },
  }),
  route({
    method: 'POST',
    path: '/books/list',
    permission: 'BooksRead',
    summary: 'Books that a condition and words choose',
    description: 'Without `sort` by relevance where words are looked for, else by title.',
    query: record({ ...pageQuery, ...sorting(bookSortNames), ...full }),
    body: body({
      ...conditionOnBooks,
      includeDeleted: maybe(
        Type.Boolean({ description: 'Missing books too, for holders of BooksWrite.' }),
      ),
    }),
    bodyOptional: true,
    responses: { 200: eitherPaged<Item>(books) },
    async handle({ query, body, viewer, identity, request, reply }, { sql }) {
      const asked = paging(query)
      const { ids, total } = await listBooks(sql, viewer, {
        ...parseBookSort(query.sort, query.order),
        ...{ page: asked.page, pageSize: asked.pageSize },
        filter: parseBookFilter(body.condition),
        text: body.fullTextSearch,
        includeDeleted: body.includeDeleted === true && identity.permissions.has('BooksWrite'),
      })
      const data = await books.byIds({ sql, viewer, full: query.full }, ids)
      return pageOf({ request, reply, query }, { data, total, paging: asked })
    },
  }),
]
