// Posters of collections and read lists in the Komga-compatible API: the selected upload, otherwise a mosaic of members.
import type { Permission } from '../../../../accounts/permission.ts'
import type { Viewer } from '../../../../accounts/viewer.ts'
import { NotFound } from '../../../../base/errors.ts'
import {
  ErrorBody,
  list,
  maybe,
  record,
  type TSchema,
  Type,
  uuid,
} from '../../../../base/schema.ts'
import { coverFolders } from '../../../../catalog/cover/cover-files.ts'
import { asJpeg } from '../../../../catalog/cover/routes/cover-response.ts'
import { withUpload } from '../../../../catalog/cover/routes/cover-upload.ts'
import { createCover } from '../../../../catalog/cover/routes/covers.ts'
import type { Deps } from '../../../../http/deps.ts'
import { CollectionId, ReadListId } from '../../../../http/params.ts'
import { route } from '../../../../http/route.ts'
import {
  addGroupingCover,
  deleteGroupingCover,
  selectGroupingCover,
} from '../../../../organize/grouping/cover.ts'
import {
  collections,
  type Grouping,
  groupingNotFound,
  readLists,
} from '../../../../organize/grouping/grouping.ts'
import { findGrouping } from '../../../../organize/grouping/list.ts'
import { groupingThumbnail } from '../../../../organize/routes/grouping-covers.ts'
import { CollectionPoster, groupingPosters as postersOf, ReadListPoster } from '../../poster-dto.ts'
import { revalidated } from '../http/revalidation.ts'
import { isSelectedBy, jpeg, posterImage } from './posters.ts'

type GroupingOwner = {
  grouping: Grouping
  ownerName: 'Collection' | 'ReadList'
  path: string
  params: typeof CollectionId
  read: Permission
  write: Permission
  item: TSchema
}

const owners: GroupingOwner[] = [
  {
    ...{ grouping: collections, ownerName: 'Collection', path: '/collections/{id}' },
    ...{ params: CollectionId, read: 'CollectionsRead', write: 'CollectionsWrite' },
    item: CollectionPoster,
  },
  {
    ...{ grouping: readLists, ownerName: 'ReadList', path: '/readlists/{id}' },
    ...{ params: ReadListId, read: 'ReadListsRead', write: 'ReadListsWrite' },
    item: ReadListPoster,
  },
]

type Owned = { viewer: Viewer; grouping: Grouping; id: string; withEmpty: boolean }

/** The posters of a collection or read list that the viewer sees. Throws NotFound. */
async function visiblePosters(
  deps: Pick<Deps, 'sql' | 'services' | 'config'>,
  { viewer, grouping, id, withEmpty }: Owned,
) {
  await findGrouping(deps, viewer, grouping, { id, withEmpty })
  const folders = coverFolders(deps.config.data_dir)
  return await postersOf(deps.sql, grouping, { id, folders })
}

/** The poster with this id. Throws NotFound. */
async function requirePoster(
  deps: Pick<Deps, 'sql' | 'services' | 'config'>,
  owned: Owned,
  posterId: string,
) {
  const found = (await visiblePosters(deps, owned)).find(({ poster }) => poster.id === posterId)
  if (!found) throw new NotFound('Poster not found')
  return found
}

function readRoutes({ grouping, ownerName, path, params, read, write, item }: GroupingOwner) {
  const noun = grouping.name.toLowerCase()
  return [
    route(`GET ${path}/thumbnail`, {
      operationId: `get${ownerName}Thumbnail`,
      permission: read,
      bucket: 'images',
      summary: `Get the poster of a ${noun} (JPEG)`,
      description:
        'The uploaded poster, otherwise a mosaic of the first four members, otherwise the poster of the first.',
      params,
      responses: jpeg,
      async handle({ params, viewer, request, signal }, deps) {
        const subject = { viewer, grouping, id: params.id, signal, ...asJpeg(deps) }
        const response = await groupingThumbnail(request, deps, { ...subject, format: 'jpeg' })
        if (response === null) throw groupingNotFound(grouping)
        return revalidated(response)
      },
    }),
    route(`GET ${path}/thumbnails`, {
      operationId: `get${ownerName}Thumbnails`,
      permission: read,
      cost: 'record',
      summary: `List the posters of a ${noun}`,
      description: 'Only uploaded ones.',
      params,
      responses: { 200: list(item) },
      async handle({ params, viewer, identity }, deps) {
        const withEmpty = identity.permissions.has(write)
        const owned = { viewer, grouping, id: params.id, withEmpty }
        return (await visiblePosters(deps, owned)).map(({ poster }) => poster)
      },
    }),
    route(`GET ${path}/thumbnails/{poster_id}`, {
      operationId: `get${ownerName}ThumbnailById`,
      permission: read,
      bucket: 'images',
      summary: `Get an uploaded poster of a ${noun} (JPEG)`,
      params: record({ ...params.properties, poster_id: uuid() }),
      responses: jpeg,
      async handle({ params, viewer, identity, request }, deps) {
        const withEmpty = identity.permissions.has(write)
        const owned = { viewer, grouping, id: params.id, withEmpty }
        const { name } = await requirePoster(deps, owned, params.poster_id)
        return await posterImage(request, deps, name)
      },
    }),
  ]
}

function writeRoutes({ grouping, ownerName, path, params, write, item }: GroupingOwner) {
  const noun = grouping.name.toLowerCase()
  const PosterId = record({ ...params.properties, poster_id: uuid() })
  return [
    route(`POST ${path}/thumbnails`, {
      operationId: `addUserUploaded${ownerName}Thumbnail`,
      permission: write,
      summary: `Upload a poster for a ${noun}`,
      params,
      query: record({ selected: maybe(Type.Boolean()) }),
      multipart: { description: 'The image as part `file`.' },
      responses: { 200: item, 503: ErrorBody },
      async handle({ params: { id }, query, viewer, request, signal }, deps) {
        const { sql, config, pages } = deps
        await findGrouping(deps, viewer, grouping, { id, withEmpty: true })
        const client = { accountId: viewer.accountId, signal }
        const folders = coverFolders(config.data_dir)
        const coverId = await withUpload({ request, ...client }, async (original, fields) =>
          addGroupingCover(sql, viewer, grouping, {
            ...{ id, folders, isSelected: isSelectedBy(query, fields) },
            cover: await createCover(original, { config, pages, client }),
          }),
        )
        const owned = { viewer, grouping, id, withEmpty: true }
        return (await requirePoster(deps, owned, coverId)).poster
      },
    }),
    route(`PUT ${path}/thumbnails/{poster_id}/selected`, {
      operationId: `mark${ownerName}ThumbnailSelected`,
      permission: write,
      summary: `Select a poster of a ${noun}`,
      params: PosterId,
      responses: { 202: null },
      async handle({ params: { id, poster_id }, viewer }, deps) {
        await findGrouping(deps, viewer, grouping, { id, withEmpty: true })
        await selectGroupingCover(deps.sql, viewer, grouping, { id, coverId: poster_id })
      },
    }),
    route(`DELETE ${path}/thumbnails/{poster_id}`, {
      operationId: `deleteUserUploaded${ownerName}Thumbnail`,
      permission: write,
      summary: `Delete an uploaded poster of a ${noun}`,
      params: PosterId,
      responses: { 202: null },
      async handle({ params: { id, poster_id }, viewer }, deps) {
        await findGrouping(deps, viewer, grouping, { id, withEmpty: true })
        const folders = coverFolders(deps.config.data_dir)
        await deleteGroupingCover(deps.sql, viewer, grouping, { id, folders, coverId: poster_id })
      },
    }),
  ]
}

export const groupingPosters = owners.flatMap(owner => [
  ...readRoutes(owner),
  ...writeRoutes(owner),
])
