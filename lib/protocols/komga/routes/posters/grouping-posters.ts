// Posters of collections and read lists in the Komga-compatible API: the selected upload, otherwise a mosaic of members.
import { NotFound } from '../../../../base/errors.ts'
import { coverFolders } from '../../../../catalog/cover/cover-files.ts'
import { asJpeg } from '../../../../catalog/cover/routes/cover-response.ts'
import type { Deps } from '../../../../http/deps.ts'
import {
  addGroupingCover,
  deleteGroupingCover,
  selectGroupingCover,
} from '../../../../organize/grouping/cover.ts'
import { groupingNotFound } from '../../../../organize/grouping/grouping.ts'
import { findGrouping } from '../../../../organize/grouping/list.ts'
import { groupingThumbnail } from '../../../../organize/routes/grouping-covers.ts'
import { ofCollections, ofReadLists } from '../../../../organize/routes/grouping-kind.ts'
import { CollectionPoster, groupingPosters as postersOf, ReadListPoster } from '../../poster-dto.ts'
import { type PosterInput, type PosterOwner, posterRoutes } from './poster-routes.ts'

const owners = [
  { ...ofCollections, item: CollectionPoster },
  { ...ofReadLists, item: ReadListPoster },
].map(({ grouping, one, noun, path, params, read, write, item }): PosterOwner => {
  /** The posters, for a caller who may add some even if it is empty. */
  async function visible({ params: { id }, viewer, identity }: PosterInput, deps: Deps) {
    const withEmpty = identity.permissions.has(write)
    await findGrouping(deps, viewer, grouping, { id, withEmpty })
    return await postersOf(deps.sql, grouping, { id, folders: coverFolders(deps.config.data_dir) })
  }
  async function requirePoster(input: PosterInput, deps: Deps, posterId: string) {
    const found = (await visible(input, deps)).find(({ poster }) => poster.id === posterId)
    if (!found) throw new NotFound('Poster not found')
    return found
  }
  const check = ({ params: { id }, viewer }: PosterInput, deps: Deps) =>
    findGrouping(deps, viewer, grouping, { id, withEmpty: true })
  return {
    ...{ name: one, noun, path: `${path}/{id}`, params, read, write, item },
    poster: 'an uploaded poster',
    displayNote:
      'The uploaded poster, otherwise a mosaic of the first four members, otherwise the poster of the first.',
    listNote: 'Only uploaded ones.',
    list: async (input, deps) => (await visible(input, deps)).map(({ poster }) => poster),
    async display({ params, viewer, request, signal }, deps) {
      const subject = { viewer, grouping, id: params.id, signal, ...asJpeg(deps) }
      const response = await groupingThumbnail(request, deps, { ...subject, format: 'jpeg' })
      if (response === null) throw groupingNotFound(grouping)
      return response
    },
    fileOf: async (input, deps, posterId) => (await requirePoster(input, deps, posterId)).name,
    async add(input, deps, read) {
      const { params, viewer } = input
      await check(input, deps)
      const coverId = await read(upload =>
        addGroupingCover(deps.sql, viewer, grouping, { id: params.id, ...upload }),
      )
      return (await requirePoster(input, deps, coverId)).poster
    },
    async select(input, deps, coverId) {
      await check(input, deps)
      await selectGroupingCover(deps.sql, input.viewer, grouping, { id: input.params.id, coverId })
    },
    async remove(input, deps, coverId) {
      await check(input, deps)
      const request = { id: input.params.id, coverId, folders: coverFolders(deps.config.data_dir) }
      await deleteGroupingCover(deps.sql, input.viewer, grouping, request)
    },
  }
})

export const groupingPosters = owners.flatMap(posterRoutes)
