// Posters in the Komga-compatible API: the displayed one, all of them, uploads, selection. Of collections and read lists
// the displayed one is the selected upload, otherwise a mosaic of members.
import { Invalid, NotFound } from '../../../../base/errors.ts'
import { maybe, record, Type } from '../../../../base/schema.ts'
import {
  addCover,
  deleteCover,
  listCovers,
  selectAutomaticCover,
  selectCover,
} from '../../../../catalog/cover/cover.ts'
import { coverFolders } from '../../../../catalog/cover/cover-files.ts'
import { coverOfBook, coverOfSeries } from '../../../../catalog/cover/displayed-cover.ts'
import { asJpeg, coverResponse } from '../../../../catalog/cover/routes/cover-response.ts'
import { type OwnerRequest, requireOwner } from '../../../../catalog/owner.ts'
import { generateThumbnails } from '../../../../catalog/scan/work-on-many.ts'
import type { Deps } from '../../../../http/deps.ts'
import { ofBook, ofSeries } from '../../../../http/params.ts'
import { route } from '../../../../http/route.ts'
import {
  addGroupingCover,
  deleteGroupingCover,
  selectGroupingCover,
} from '../../../../organize/grouping/cover.ts'
import { groupingNotFound } from '../../../../organize/grouping/grouping.ts'
import { findGrouping } from '../../../../organize/grouping/list.ts'
import { groupingThumbnail } from '../../../../organize/routes/grouping-covers.ts'
import { ofCollections, ofReadLists } from '../../../../organize/routes/grouping-kind.ts'
import {
  BookPoster,
  CollectionPoster,
  groupingPosters,
  posterName,
  posters as postersOf,
  ReadListPoster,
  SeriesPoster,
} from '../../poster-dto.ts'
import { type PosterInput, type PosterOwner, posterRoutes } from './poster-routes.ts'

const owners = [
  { ...ofBook, item: BookPoster, coverOf: coverOfBook },
  { ...ofSeries, item: SeriesPoster, coverOf: coverOfSeries },
].map(({ kind, ownerName, coverOf, ...routes }): PosterOwner => {
  const ownedBy = ({ params, viewer }: PosterInput): OwnerRequest => ({
    viewer,
    owner: { kind, id: params.id },
  })
  const list = (input: PosterInput, { sql, config, thumbnails }: Deps) =>
    postersOf(sql, ownedBy(input), { folders: coverFolders(config.data_dir), thumbnails })
  const isOfFile = ({ params }: PosterInput, posterId: string) =>
    kind === 'book' && params.id === posterId
  return {
    ...{ ...routes, name: ownerName, noun: kind, poster: 'a poster' },
    listNote: "The poster from a book's file has the id of the book.",
    list,
    display: ({ params, viewer, request }, deps) =>
      coverResponse(request, deps, { viewer, kind, id: params.id, coverOf, ...asJpeg(deps) }),
    fileOf: (input, { sql }, posterId) => posterName(sql, ownedBy(input), posterId),
    async add(input, deps, read) {
      const { sql } = deps
      const owned = ownedBy(input)
      await requireOwner(sql, owned)
      const before = (await listCovers(sql, owned)).find(({ isSelected }) => isSelected)
      const { added, isSelected } = await read(async ({ isSelected, ...upload }) => ({
        added: (await addCover(sql, owned, upload)).cover,
        isSelected,
      }))
      if (!isSelected && before?.id !== added.id)
        await (before ? selectCover(sql, owned, before.id) : selectAutomaticCover(sql, owned))
      return (await list(input, deps)).find(({ id }) => id === added.id)!
    },
    select: (input, { sql }, posterId) =>
      isOfFile(input, posterId)
        ? selectAutomaticCover(sql, ownedBy(input))
        : selectCover(sql, ownedBy(input), posterId),
    async remove(input, { sql, config }, posterId) {
      const owned = ownedBy(input)
      if (isOfFile(input, posterId)) {
        await requireOwner(sql, owned)
        throw new Invalid('The poster from the file cannot be deleted')
      }
      await deleteCover(sql, owned, { folders: coverFolders(config.data_dir), coverId: posterId })
    },
  }
})

const groupingOwners = [
  { ...ofCollections, item: CollectionPoster },
  { ...ofReadLists, item: ReadListPoster },
].map(({ grouping, one, noun, path, params, read, write, item }): PosterOwner => {
  /** The posters, for a caller who may add some even if it is empty. */
  async function visible({ params: { id }, viewer, identity }: PosterInput, deps: Deps) {
    const withEmpty = identity.permissions.has(write)
    await findGrouping(deps, viewer, grouping, { id, withEmpty })
    return await groupingPosters(deps.sql, grouping, {
      id,
      folders: coverFolders(deps.config.data_dir),
    })
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

const regeneration = route('PUT /books/thumbnails', {
  operationId: 'booksRegenerateThumbnails',
  permission: 'TasksWrite',
  cost: 'record',
  summary: 'Regenerate the posters of all books',
  query: record({ for_bigger_result_only: maybe(Type.Boolean()) }),
  responses: { 202: null },
  async handle({ query, viewer }, { sql, queue }) {
    const force = query.for_bigger_result_only !== true
    await generateThumbnails({ sql, queue, viewer }, {}, { of: 'book', force })
  },
})

export const posters = [...[...owners, ...groupingOwners].flatMap(posterRoutes), regeneration]
