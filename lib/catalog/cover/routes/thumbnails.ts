// Cover thumbnails of books, series and libraries.
import type { Permission } from '../../../accounts/permission.ts'
import { body, maybe, Type } from '../../../base/schema.ts'
import type { Deps } from '../../../http/deps.ts'
import { BookId, LibraryId, SeriesId } from '../../../http/params.ts'
import { route } from '../../../http/route.ts'
import { imageResponses } from '../../../page/routes/image-response.ts'
import { placeholder, thumbnailEtag } from '../../../page/thumbnail.ts'
import { TaskStarted } from '../../../store/queue/task/record.ts'
import { regenerateThumbnail } from '../cover-on-demand.ts'
import { coverOfBook, coverOfLibrary, coverOfSeries } from '../displayed-cover.ts'
import { type CoverRequest, type CoverVariant, coverResponse } from './cover-response.ts'

type Subject = Pick<CoverRequest, 'kind' | 'coverOf'> & {
  operationId: string
  path: string
  params: typeof BookId
  permission: Permission
  summary: string
}

const subjects: Subject[] = [
  {
    operationId: 'getBookThumbnail',
    path: '/books/{id}/thumbnail',
    params: BookId,
    kind: 'book',
    permission: 'BooksRead',
    summary: 'Get the cover thumbnail of a book',
    coverOf: coverOfBook,
  },
  {
    operationId: 'getSeriesThumbnail',
    path: '/series/{id}/thumbnail',
    params: SeriesId,
    kind: 'series',
    permission: 'SeriesRead',
    summary: 'Get the cover thumbnail of a series',
    coverOf: coverOfSeries,
  },
  {
    operationId: 'getLibraryThumbnail',
    path: '/libraries/{id}/thumbnail',
    params: LibraryId,
    kind: 'library',
    permission: 'LibrariesRead',
    summary: 'Get the cover thumbnail of a library',
    coverOf: coverOfLibrary,
  },
]

const asStored = ({ thumbnails }: Deps): CoverVariant => ({
  etagOf: thumbnailEtag,
  read: thumbnails.read,
  placeholder: () => placeholder,
})

const GenerateThumbnail = body('GenerateThumbnail', {
  force: maybe(Type.Boolean({ default: false, description: 'Replaces an existing thumbnail.' })),
})

export const thumbnails = [
  ...subjects.map(subject =>
    route(`GET ${subject.path}`, {
      operationId: subject.operationId,
      permission: subject.permission,
      cookie: true,
      bucket: 'images',
      summary: subject.summary,
      description:
        'A missing thumbnail is generated on demand, which takes up to two seconds. Without a cover the response is an SVG placeholder. A library shows the thumbnail of its first series.',
      params: subject.params,
      responses: imageResponses,
      handle: async ({ params, viewer, request }, deps) =>
        coverResponse(request, deps, { ...subject, ...asStored(deps), viewer, id: params.id }),
    }),
  ),
  ...(['book', 'series'] as const).map(kind =>
    route(`POST /${kind === 'book' ? 'books' : 'series'}/{id}/thumbnail/generate`, {
      operationId: kind === 'book' ? 'generateBookThumbnail' : 'generateSeriesThumbnail',
      permission: 'TasksWrite',
      summary: `Generate the cover thumbnail of a ${kind}`,
      description:
        kind === 'book'
          ? 'From the cover in its file.'
          : 'From the cover of the book that represents the series.',
      params: kind === 'book' ? BookId : SeriesId,
      body: GenerateThumbnail,
      bodyOptional: true,
      responses: {
        200: TaskStarted,
      },
      handle: async ({ params, body, viewer }, { sql, queue }) => {
        const owner = { kind, id: params.id }
        const force = body.force ?? false
        return { taskId: await regenerateThumbnail(sql, { viewer, owner, queue, force }) }
      },
    }),
  ),
]
