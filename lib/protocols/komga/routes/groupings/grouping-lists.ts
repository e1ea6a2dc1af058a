// Lists of collections and read lists of the Komga-compatible API: all by name, and those with a series or a book.
import { list, maybe, record, Type, text } from '../../../../base/schema.ts'
import { requireBook } from '../../../../catalog/book/book-record.ts'
import { requireSeries } from '../../../../catalog/series/series-record.ts'
import { ofBook, ofSeries } from '../../../../http/params.ts'
import { route } from '../../../../http/route.ts'
import { listGroupings } from '../../../../organize/grouping/list.ts'
import { ofCollections, ofReadLists } from '../../../../organize/routes/grouping-kind.ts'
import { CollectionDto, collectionDtos, ReadListDto, readListDtos } from '../../grouping-dto.ts'
import { wordsOfNames } from '../../search/full-text.ts'
import { readerOf } from '../../values.ts'
import { pageOf, pageQuery, pageRequest, sortQuery } from '../http/paging.ts'
import { listParameter } from '../http/read-request.ts'
import { listResponse, withinLibraries } from '../lists/list-response.ts'

const kinds = [
  {
    ...{ ...ofCollections, item: CollectionDto, ...collectionDtos },
    ...{ member: ofSeries, requireMember: requireSeries },
  },
  {
    ...{ ...ofReadLists, item: ReadListDto, ...readListDtos },
    ...{ member: ofBook, requireMember: requireBook },
  },
]

const byName = kinds.map(({ grouping, many, path, noun, item, read, write, load }) =>
  route(`GET ${path}`, {
    operationId: `get${many}`,
    permission: read,
    cost: 'list',
    summary: `List ${noun}s`,
    description: 'Sorted by name.',
    query: record({
      ...{ ...pageQuery, ...sortQuery },
      search: maybe(text(200)),
      library_id: listParameter(Type.String()),
    }),
    responses: { 200: pageOf(item) },
    async handle(input, deps) {
      const { query, identity } = input
      const viewer = withinLibraries(input.viewer, query.library_id)
      const withEmpty = viewer === input.viewer && identity.permissions.has(write)
      return await listResponse({
        request: pageRequest(query),
        ...{ sort: [], item },
        async find({ offset, limit }) {
          const search = wordsOfNames(query.search ?? '')
          const page = { search, withEmpty, page: offset / limit + 1, pageSize: limit }
          const found = await listGroupings(deps, viewer, grouping, page)
          return { ids: found.rows.map(({ id }) => id), total: found.total }
        },
        load: ids => load(deps, readerOf(input), ids),
      })
    },
  }),
)

/** Lists that contain a book or a series are returned as a whole. */
const maxGroupings = 10_000

const containing = kinds.map(
  ({ grouping, many, path, noun, item, read, load, member, requireMember }) =>
    route(`GET ${member.path}${path}`, {
      operationId: `get${many}By${member.ownerName}Id`,
      permission: { all: [member.read], any: [read] },
      summary: `List the ${noun}s that contain a ${member.kind}`,
      params: member.params,
      responses: { 200: list(item) },
      async handle(input, deps) {
        const { viewer, params } = input
        await requireMember(deps.sql, viewer, params.id)
        const request = { memberId: params.id, page: 1, pageSize: maxGroupings }
        const { rows } = await listGroupings(deps, viewer, grouping, request)
        const ids = rows.map(({ id }) => id)
        return await load(deps, readerOf(input), ids)
      },
    }),
)

export const groupingLists = [...byName, ...containing]
