// Cover thumbnails of books, series and libraries.
import { body, maybe, Type } from '../../../base/schema.ts'
import type { Deps } from '../../../http/deps.ts'
import { LibraryId, ofBook, ofSeries } from '../../../http/params.ts'
import { route } from '../../../http/route.ts'
import { imageResponses } from '../../../page/routes/image-response.ts'
import { placeholder, thumbnailEtag } from '../../../page/thumbnail.ts'
import { TaskStarted } from '../../../store/queue/task/record.ts'
import { regenerateThumbnail } from '../cover-on-demand.ts'
import { coverOfBook, coverOfLibrary, coverOfSeries } from '../displayed-cover.ts'
import { type CoverVariant, coverResponse } from './cover-response.ts'

const subjects = [
  { ...ofBook, coverOf: coverOfBook },
  { ...ofSeries, coverOf: coverOfSeries },
  {
    kind: 'library',
    ownerName: 'Library',
    path: '/libraries/{id}',
    params: LibraryId,
    read: 'LibrariesRead',
    coverOf: coverOfLibrary,
  },
] as const

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
    route(`GET ${subject.path}/thumbnail`, {
      operationId: `get${subject.ownerName}Thumbnail`,
      permission: subject.read,
      cookie: true,
      bucket: 'images',
      summary: `Get the cover thumbnail of a ${subject.kind}`,
      description:
        'A missing thumbnail is generated on demand, which takes up to two seconds. Without a cover the response is an SVG placeholder. A library shows the thumbnail of its first series.',
      params: subject.params,
      responses: imageResponses,
      handle: async ({ params, viewer, request }, deps) =>
        coverResponse(request, deps, { ...subject, ...asStored(deps), viewer, id: params.id }),
    }),
  ),
  ...[ofBook, ofSeries].map(({ kind, ownerName, path, params }) =>
    route(`POST ${path}/thumbnail/generate`, {
      operationId: `generate${ownerName}Thumbnail`,
      permission: 'TasksWrite',
      summary: `Generate the cover thumbnail of a ${kind}`,
      description:
        'From the cover in the file of the book, or of the one that represents the series.',
      params,
      body: GenerateThumbnail,
      bodyOptional: true,
      responses: { 200: TaskStarted },
      handle: async ({ params, body, viewer }, { sql, queue }) => {
        const owner = { kind, id: params.id }
        const force = body.force ?? false
        return { taskId: await regenerateThumbnail(sql, { viewer, owner, queue, force }) }
      },
    }),
  ),
]
