// Single books and series of the Komga-compatible API, their neighbors, and operations on their files.

import type { Permission } from '../../../../accounts/permission.ts'
import { Forbidden, Invalid, NotFound } from '../../../../base/errors.ts'
import { list } from '../../../../base/schema.ts'
import { requireBook } from '../../../../catalog/book/book-record.ts'
import { analyzeBook, analyzeSeries } from '../../../../catalog/scan/analyze.ts'
import { neighbors } from '../../../../catalog/series/series-books.ts'
import { requireSeries } from '../../../../catalog/series/series-record.ts'
import { BookId, SeriesId } from '../../../../http/params.ts'
import { route } from '../../../../http/route.ts'
import { collections, readLists } from '../../../../organize/grouping/grouping.ts'
import { listGroupings } from '../../../../organize/grouping/list.ts'
import { BookDto, bookDto } from '../../book-dto.ts'
import { CollectionDto, collectionDtos, ReadListDto, readListDtos } from '../../grouping-dto.ts'
import { SeriesDto, seriesDto } from '../../series-dto.ts'
import { readerOf } from '../../values.ts'

/** Lists that contain a book or a series are returned as a whole. */
const maxGroupings = 10_000

const books = [
  route('GET /books/{id}', {
    operationId: 'getBookById',
    permission: 'BooksRead',
    summary: 'Get a book',
    params: BookId,
    responses: { 200: BookDto },
    handle: (input, { sql }) => bookDto(sql, readerOf(input), input.params.id),
  }),
  ...(['next', 'previous'] as const).map(side =>
    route(`GET /books/{id}/${side}`, {
      operationId: side === 'next' ? 'getBookSiblingNext' : 'getBookSiblingPrevious',
      permission: 'BooksRead',
      cost: 'record',
      summary: `Get the ${side} book of the series`,
      description: '404 at the end of the series.',
      params: BookId,
      responses: { 200: BookDto },
      async handle(input, { sql }) {
        const { next, prev } = await neighbors(sql, input.viewer, input.params.id)
        const id = side === 'next' ? next : prev
        if (id === null) throw new NotFound(`There is no ${side} book`)
        return await bookDto(sql, readerOf(input), id)
      },
    }),
  ),
  route('GET /books/{id}/readlists', {
    operationId: 'getReadListsByBookId',
    permission: { all: ['BooksRead'], any: ['ReadListsRead'] },
    summary: 'List the read lists that contain a book',
    params: BookId,
    responses: { 200: list(ReadListDto) },
    async handle(input, deps) {
      const { viewer, params } = input
      await requireBook(deps.sql, viewer, params.id)
      const request = { memberId: params.id, page: 1, pageSize: maxGroupings }
      const { rows } = await listGroupings(deps, viewer, readLists, request)
      return await readListDtos(
        deps,
        readerOf(input),
        rows.map(({ id }) => id),
      )
    },
  }),
]

const series = [
  route('GET /series/{id}', {
    operationId: 'getSeriesById',
    permission: 'SeriesRead',
    summary: 'Get a series',
    params: SeriesId,
    responses: { 200: SeriesDto },
    handle: (input, { sql }) => seriesDto(sql, readerOf(input), input.params.id),
  }),
  route('GET /series/{id}/collections', {
    operationId: 'getCollectionsBySeriesId',
    permission: { all: ['SeriesRead'], any: ['CollectionsRead'] },
    summary: 'List the collections that contain a series',
    params: SeriesId,
    responses: { 200: list(CollectionDto) },
    async handle(input, deps) {
      const { viewer, params } = input
      await requireSeries(deps.sql, viewer, params.id)
      const request = { memberId: params.id, page: 1, pageSize: maxGroupings }
      const { rows } = await listGroupings(deps, viewer, collections, request)
      return await collectionDtos(
        deps,
        readerOf(input),
        rows.map(({ id }) => id),
      )
    },
  }),
]

type Owner = {
  name: 'book' | 'series'
  path: '/books/{id}' | '/series/{id}'
  params: typeof BookId
  permission: Permission
  removal: Permission
  analyze: typeof analyzeBook
  operations: { analyze: string; refresh: string; file: string }
}
const owners: Owner[] = [
  {
    ...{ name: 'book', path: '/books/{id}', params: BookId, permission: 'BooksWrite' },
    ...{ removal: 'BooksDelete', analyze: analyzeBook },
    operations: { analyze: 'bookAnalyze', refresh: 'bookRefreshMetadata', file: 'deleteBookFile' },
  },
  {
    ...{ name: 'series', path: '/series/{id}', params: SeriesId, permission: 'SeriesWrite' },
    ...{ removal: 'SeriesDelete', analyze: analyzeSeries },
    operations: {
      analyze: 'seriesAnalyze',
      refresh: 'seriesRefreshMetadata',
      file: 'deleteSeriesFile',
    },
  },
]

const files = owners.flatMap(({ name, path, params, permission, removal, analyze, operations }) => [
  ...(
    [
      [operations.analyze, 'analyze', 'Analyze'],
      [operations.refresh, 'metadata/refresh', 'Refresh the metadata of'],
    ] as const
  ).map(([operationId, action, verb]) =>
    route(`POST ${path}/${action}`, {
      operationId,
      permission,
      summary: `${verb} a ${name}`,
      description: 'All contents of the files are read again in the background.',
      params,
      responses: { 202: null },
      async handle({ params, viewer }, { sql, queue }) {
        const request = { sql, queue, viewer, unanalyzedOnly: false }
        await analyze(request, params.id).catch(error => {
          // Nothing to read, such as only missing files.
          if (!(error instanceof Invalid)) throw error
        })
      },
    }),
  ),
  route(`DELETE ${path}/file`, {
    operationId: operations.file,
    permission: removal,
    summary: `Refuse to delete the files of a ${name}`,
    description: 'Always 403: files of libraries are never changed.',
    params,
    responses: { 202: null },
    handle() {
      throw new Forbidden('Files of libraries are never deleted')
    },
  }),
])

export const items = [...books, ...series, ...files]
