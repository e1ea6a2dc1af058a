// Lists of collections and read lists of the Komga-compatible API, by name.
import type { Permission } from '../../../../accounts/permission.ts'
import { maybe, record, type TSchema, Type, text } from '../../../../base/schema.ts'
import { route } from '../../../../http/route.ts'
import { collections, type Grouping, readLists } from '../../../../organize/grouping/grouping.ts'
import { listGroupings } from '../../../../organize/grouping/list.ts'
import type { WithServices } from '../../../../store/services.ts'
import { CollectionDto, collectionDtos, ReadListDto, readListDtos } from '../../grouping-dto.ts'
import { wordsOfNames } from '../../search/full-text.ts'
import { type Reader, readerOf } from '../../values.ts'
import { pageOf, pageQuery, pageRequest, sortQuery } from '../http/paging.ts'
import { listParameter } from '../http/read-request.ts'
import { listResponse, withinLibraries } from '../lists/list-response.ts'

type Kind = {
  grouping: Grouping
  operationId: string
  path: string
  noun: string
  item: TSchema
  read: Permission
  write: Permission
  load: (db: WithServices, reader: Reader, ids: readonly string[]) => Promise<object[]>
}

const kinds: Kind[] = [
  {
    ...{ grouping: collections, operationId: 'getCollections', path: '/collections' },
    ...{ noun: 'collections', item: CollectionDto, load: collectionDtos },
    ...{ read: 'CollectionsRead', write: 'CollectionsWrite' },
  },
  {
    ...{ grouping: readLists, operationId: 'getReadLists', path: '/readlists' },
    ...{ noun: 'read lists', item: ReadListDto, load: readListDtos },
    ...{ read: 'ReadListsRead', write: 'ReadListsWrite' },
  },
]

export const groupingLists = kinds.map(
  ({ grouping, operationId, path, noun, item, read, write, load }) =>
    route(`GET ${path}`, {
      operationId,
      permission: read,
      cost: 'list',
      summary: `List ${noun}`,
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
            const page = { page: offset / limit + 1, pageSize: limit }
            const found = await listGroupings(deps, viewer, grouping, {
              search,
              withEmpty,
              ...page,
            })
            return { ids: found.rows.map(({ id }) => id), total: found.total }
          },
          load: ids => load(deps, readerOf(input), ids),
        })
      },
    }),
)
