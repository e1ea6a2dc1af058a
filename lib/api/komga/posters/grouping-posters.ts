// Posters of collections and read lists in the Komga-compatible API: that of the first member.
import type { Permission } from '../../../auth/permission.ts'
import { coverOfBook, coverOfSeries } from '../../../catalog/cover/displayed-cover.ts'
import { coverMember } from '../../../catalog/grouping/cover.ts'
import {
  collections,
  type Grouping,
  groupingNotFound,
  readLists,
} from '../../../catalog/grouping/grouping.ts'
import { findGrouping } from '../../../catalog/grouping/list.ts'
import { Forbidden, NotFound } from '../../../errors.ts'
import { route } from '../../../http/route.ts'
import { list, record, Type } from '../../../schema.ts'
import { asJpeg, coverResponse } from '../../images/cover-response.ts'
import { CollectionId, ReadListId } from '../../params.ts'
import { revalidated } from '../http/revalidation.ts'
import { jpeg } from './posters.ts'

type GroupingOwner = {
  grouping: Grouping
  ownerName: 'Collection' | 'ReadList'
  path: string
  params: typeof CollectionId
  read: Permission
  write: Permission
  kind: 'book' | 'series'
  coverOf: typeof coverOfBook
}

const groupingOwners: GroupingOwner[] = [
  {
    ...{ grouping: collections, ownerName: 'Collection', path: '/collections/{id}' },
    ...{ params: CollectionId, read: 'CollectionsRead', write: 'CollectionsWrite' },
    ...{ kind: 'series', coverOf: coverOfSeries },
  },
  {
    ...{ grouping: readLists, ownerName: 'ReadList', path: '/readlists/{id}' },
    ...{ params: ReadListId, read: 'ReadListsRead', write: 'ReadListsWrite' },
    ...{ kind: 'book', coverOf: coverOfBook },
  },
]

/** Collections and read lists display the poster of their first member, and have none of their own. */
export const groupingPosters = groupingOwners.flatMap(
  ({ grouping, ownerName, path, params, read, write, kind, coverOf }) => {
    const noun = grouping.name.toLowerCase()
    const PosterId = record({ ...params.properties, poster: Type.String() })
    const refuse = () => {
      throw new Forbidden(`A ${noun} displays the poster of its first member`)
    }
    return [
      route({
        operationId: `get${ownerName}Thumbnail`,
        method: 'GET',
        path: `${path}/thumbnail`,
        permission: read,
        bucket: 'images',
        summary: `Get the poster of a ${noun} (JPEG)`,
        params,
        responses: jpeg,
        async handle({ params, viewer, request }, deps) {
          const id = await coverMember(deps.sql, viewer, grouping, params.id)
          if (id === null) throw groupingNotFound(grouping)
          const cover = { viewer, kind, id, coverOf, ...asJpeg(deps) }
          return revalidated(await coverResponse(request, deps, cover))
        },
      }),
      route({
        operationId: `get${ownerName}Thumbnails`,
        method: 'GET',
        path: `${path}/thumbnails`,
        permission: read,
        cost: 'record',
        summary: `List the posters of a ${noun}`,
        params,
        responses: {
          200: list(
            record(
              { id: Type.String(), [`${grouping.idKey}`]: Type.String() },
              { component: `Thumbnail${ownerName}Dto` },
            ),
          ),
        },
        async handle({ params, viewer, identity }, { sql }) {
          const withEmpty = identity.permissions.has(write)
          await findGrouping(sql, viewer, grouping, { id: params.id, withEmpty })
          return []
        },
      }),
      route({
        operationId: `get${ownerName}ThumbnailById`,
        method: 'GET',
        path: `${path}/thumbnails/{poster}`,
        permission: read,
        summary: `Get a poster of a ${noun}`,
        description: 'Always 404.',
        params: PosterId,
        responses: jpeg,
        handle() {
          throw new NotFound('Poster not found')
        },
      }),
      ...(
        [
          ['POST', `addUserUploaded${ownerName}Thumbnail`, '/thumbnails'],
          ['PUT', `mark${ownerName}ThumbnailSelected`, '/thumbnails/{poster}/selected'],
          ['DELETE', `deleteUserUploaded${ownerName}Thumbnail`, '/thumbnails/{poster}'],
        ] as const
      ).map(([method, operationId, rest]) =>
        route({
          ...{ operationId, method, path: `${path}${rest}` },
          permission: write,
          summary: `Refuse to change the posters of a ${noun}`,
          description: 'Always 403.',
          params: method === 'POST' ? params : PosterId,
          ...(method === 'POST' ? { multipart: { description: 'Not read.' } } : {}),
          responses: { 202: null },
          handle: refuse,
        }),
      ),
    ]
  },
)
