// Collections of series (hand-picked, ordered, or defined by a rule) and read lists of books from any series.
import { isUnrestricted } from '../../accounts/viewer.ts'
import {
  component,
  count,
  maybe,
  nullable,
  optional,
  Type,
  timestamp,
  uuid,
} from '../../base/schema.ts'
import { requireBook } from '../../catalog/book/book-record.ts'
import { books } from '../../catalog/book/routes/book-lists.ts'
import { labelFilter, labelQuery, series } from '../../catalog/series/routes/series-lists.ts'
import { requireSeries } from '../../catalog/series/series-record.ts'
import { BookId, CollectionId, ReadListId, SeriesId } from '../../http/params.ts'
import { collectionRule } from '../../list/routes/filter-schema.ts'
import { listRoutes, sortQuery } from '../../list/routes/list-routes.ts'
import { bookSortNames, seriesSortNames } from '../../list/sort.ts'
import { checkRule } from '../collection/rules.ts'
import {
  booksOfReadList,
  collectionSorts,
  parseCollectionSort,
  parseReadListSort,
  readListSorts,
  seriesOfCollection,
} from '../grouping/contents.ts'
import { contentsDirection, ofCollections, ofReadLists, type RouteKind } from './grouping-kind.ts'
import { groupingRoutes } from './grouping-routes.ts'

const Collection = component('Collection', {
  id: uuid(),
  name: Type.String(),
  ordered: Type.Boolean({ description: 'Whether the order is chosen by hand.' }),
  summary: nullable(Type.String()),
  condition: maybe(
    Type.Unsafe<unknown>({
      description: 'The rule, as stored. Omitted for restricted accounts that may not change it.',
    }),
  ),
  automatic: Type.Boolean({ description: 'Whether a rule selects the series.' }),
  seriesCount: nullable(
    count({
      description:
        'Number of series that the caller sees; null with a rule, because the list has the total.',
    }),
  ),
  createdAt: timestamp(),
  updatedAt: timestamp(),
})

const collectionKind: RouteKind = {
  ...ofCollections,
  ...{ memberPath: '/series', memberParams: SeriesId, readMembers: 'SeriesRead' },
  item: Collection,
  toItem: ({ rule, count, ...row }, { canWrite, viewer }) => ({
    ...row,
    ...(canWrite || isUnrestricted(viewer) ? { condition: rule } : {}),
    automatic: rule !== null,
    seriesCount: count,
  }),
  settings: { condition: optional(collectionRule) },
  change({ condition: rule }) {
    if (rule !== undefined && rule !== null) checkRule(rule)
    return { rule }
  },
  requireMember: requireSeries,
}

export const collections = [
  ...groupingRoutes(collectionKind),
  ...listRoutes(
    { ...series, permission: { all: ['SeriesRead'], any: ['CollectionsRead'] } },
    {
      operationId: 'listSeriesOfCollection',
      path: '/collections/{id}/series',
      summary: 'List the series of a collection',
      description:
        'By default in the order chosen by hand, otherwise by title. An array contains at most 500 series; request pages for more.',
      params: CollectionId,
      query: {
        ...sortQuery([...new Set([...collectionSorts, ...seriesSortNames])]),
        direction: contentsDirection,
        ...{
          libraryId: maybe(uuid({ description: 'Limits the list to this library.' })),
          ...labelQuery,
        },
      },
      find: ({ sql, services, viewer, identity, params, query, page, pageSize }) =>
        seriesOfCollection({ sql, services }, viewer, {
          ...{ id: params.id, withEmpty: identity.permissions.has('CollectionsWrite') },
          sorting: parseCollectionSort(query.sort, query.direction ?? query.order),
          filter: labelFilter({ genre: query.genres, tag: query.tags }),
          ...{ libraryId: query.libraryId, page, pageSize },
        }),
    },
  ),
]

const ReadList = component('ReadList', {
  id: uuid(),
  name: Type.String(),
  summary: nullable(Type.String()),
  ordered: Type.Boolean({ description: 'Whether the order is chosen by hand.' }),
  bookCount: count({ description: 'Number of books that the caller sees.' }),
  createdAt: timestamp(),
  updatedAt: timestamp(),
})

const readListKind: RouteKind = {
  ...ofReadLists,
  ...{ memberPath: '/books', memberParams: BookId, readMembers: 'BooksRead' },
  item: ReadList,
  toItem: ({ rule: _rule, count, ...row }) => ({ ...row, bookCount: count }),
  settings: {},
  change: () => ({}),
  requireMember: requireBook,
}

export const readLists = [
  ...groupingRoutes(readListKind),
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
