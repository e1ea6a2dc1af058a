// Komga features that this server lacks: imports, temporary books, duplicate pages. Lists are empty, changes are
// refused.
import { Forbidden, NotFound } from '../../../../base/errors.ts'
import {
  component,
  list,
  maybe,
  nullable,
  record,
  type TSchema,
  Type,
  text,
} from '../../../../base/schema.ts'
import { type Route, route } from '../../../../http/route.ts'
import { PageDto } from '../../page-dto.ts'
import { time } from '../../values.ts'
import { pageOf, pageOfAll, pageQuery, pageRequest, sortQuery } from '../http/paging.ts'

const hash = {
  hash: Type.String(),
  size: nullable(Type.Integer()),
  matchCount: Type.Integer(),
}
const UnknownHash = component('PageHashUnknownDto', hash)
const KnownHash = component('PageHashKnownDto', {
  ...hash,
  action: Type.String(),
  deleteCount: Type.Integer(),
  ...{ created: time(), lastModified: time() },
})
const HashMatch = component('PageHashMatchDto', {
  ...{ bookId: Type.String(), url: Type.String(), pageNumber: Type.Integer() },
  ...{ fileName: Type.String(), fileSize: Type.Integer(), mediaType: Type.String() },
})
const TransientBook = component('TransientBookDto', {
  ...{ id: Type.String(), name: Type.String(), url: Type.String(), fileLastModified: time() },
  ...{ sizeBytes: Type.Integer(), size: Type.String(), status: Type.String() },
  ...{ mediaType: Type.String(), pages: list(PageDto), files: list(Type.String()) },
  ...{ comment: Type.String(), number: nullable(Type.Number()) },
  seriesId: nullable(Type.String()),
})

const Hash = record({ hash: text(200) })

function emptyPages(operationId: string, path: string, item: TSchema, params?: typeof Hash): Route {
  const common = { operationId, method: 'GET', path, permission: 'SystemAdmin' } as const
  return route({
    ...{ ...common, cost: 'record', summary: 'List duplicate pages' },
    description: 'Always empty: pages are not compared.',
    ...(params ? { params } : {}),
    query: record({ ...pageQuery, ...sortQuery, action: maybe(list(Type.String())) }),
    responses: { 200: pageOf(item) },
    handle: ({ query }) => pageOfAll(pageRequest(query as object), []) as never,
  })
}

type Refusal = Pick<Route, 'operationId' | 'method' | 'path' | 'summary'> & {
  params?: TSchema
  status?: 403 | 404
  response?: TSchema
}

function refusal({ status = 403, response, params, ...spec }: Refusal): Route {
  return route({
    ...spec,
    permission: 'SystemAdmin',
    cost: 'record',
    description: `Always ${status}.`,
    ...(params ? { params } : {}),
    responses: response ? { 200: response } : { 202: null },
    handle() {
      if (status === 404) throw new NotFound('Pages are not compared')
      throw new Forbidden('This server does not change the files of libraries')
    },
  })
}

const Transient = record({ id: text(200) })

export const imports: Route[] = [
  refusal({
    ...{ operationId: 'importBooks', method: 'POST', path: '/books/import' },
    summary: 'Refuse to import books',
  }),
  refusal({
    ...{ operationId: 'scanTransientBooks', method: 'POST', path: '/transient-books' },
    ...{ summary: 'Refuse to open books in other folders', response: list(TransientBook) },
  }),
  refusal({
    ...{ operationId: 'analyzeTransientBook', method: 'POST', params: Transient },
    ...{ path: '/transient-books/{id}/analyze', response: TransientBook },
    summary: 'Refuse to analyze a temporary book',
  }),
  refusal({
    ...{
      operationId: 'getPageByTransientBookId',
      method: 'GET',
      path: '/transient-books/{id}/pages/{page}',
    },
    params: record({ ...Transient.properties, page: text(20) }),
    ...{ summary: 'Refuse the page of a temporary book', status: 404 },
  }),
  emptyPages('getKnownPageHashes', '/page-hashes', KnownHash),
  emptyPages('getUnknownPageHashes', '/page-hashes/unknown', UnknownHash),
  emptyPages('getPageHashMatches', '/page-hashes/{hash}', HashMatch, Hash),
  refusal({
    ...{ operationId: 'createOrUpdateKnownPageHash', method: 'PUT', path: '/page-hashes' },
    summary: 'Refuse to store duplicate pages',
  }),
  ...(['thumbnail', 'unknown'] as const).map(kind =>
    refusal({
      operationId: kind === 'unknown' ? 'getUnknownPageHashThumbnail' : 'getKnownPageHashThumbnail',
      ...{ method: 'GET', params: Hash, status: 404 },
      path: `/page-hashes/${kind === 'unknown' ? 'unknown/' : ''}{hash}/thumbnail`,
      summary: 'Get the image of duplicate pages',
    }),
  ),
  ...(['all', 'match'] as const).map(kind =>
    refusal({
      operationId:
        kind === 'all' ? 'deleteDuplicatePagesByPageHash' : 'deleteSingleMatchByPageHash',
      ...{ method: 'POST', params: Hash, path: `/page-hashes/{hash}/delete-${kind}` },
      summary: 'Refuse to delete pages from files',
    }),
  ),
]
