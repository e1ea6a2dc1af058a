// Posters of books and series in the Komga-compatible API: the displayed one, all of them, uploads, selection.
import { Invalid } from '../../../../base/errors.ts'
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
import { BookPoster, posterName, posters as postersOf, SeriesPoster } from '../../poster-dto.ts'
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

export const posters = [...owners.flatMap(posterRoutes), regeneration]
