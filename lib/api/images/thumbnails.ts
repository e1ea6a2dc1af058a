// Small covers of books, series and libraries. Where there is none yet a drawing stands for it.
import type { Permission } from '../../auth/permission.ts'
import { remakeThumbnail } from '../../catalog/cover/cover-task.ts'
import { coverOfBook, coverOfLibrary, coverOfSeries } from '../../catalog/cover/displayed-cover.ts'
import type { Deps } from '../../http/deps.ts'
import { route } from '../../http/route.ts'
import { placeholder, thumbnailTag } from '../../page/thumbnail.ts'
import { TaskStarted } from '../../queue/task-record.ts'
import { body, Id, maybe, Type } from '../../schema.ts'
import { type CoverAsked, type Form, sendCover } from './cover-image.ts'
import { imageResponses } from './image.ts'

type Subject = Pick<CoverAsked, 'kind' | 'coverOf'> & {
  path: string
  permission: Permission
  summary: string
}

const subjects: Subject[] = [
  {
    path: '/books',
    kind: 'book',
    permission: 'BooksRead',
    summary: 'The cover of a book, small',
    coverOf: coverOfBook,
  },
  {
    path: '/series',
    kind: 'series',
    permission: 'SeriesRead',
    summary: 'The cover of a series, small',
    coverOf: coverOfSeries,
  },
  {
    path: '/libraries',
    kind: 'library',
    permission: 'LibrariesRead',
    summary: 'The cover of the first series of a library, small',
    coverOf: coverOfLibrary,
  },
]

const asStored = ({ thumbnails }: Deps): Form => ({
  tagOf: thumbnailTag,
  read: thumbnails.read,
  drawing: () => placeholder,
})

export const thumbnails = [
  ...subjects.map(subject =>
    route({
      method: 'GET',
      path: `${subject.path}/{id}/thumbnail`,
      permission: subject.permission,
      cookie: true,
      bucket: 'images',
      summary: subject.summary,
      description:
        'A cover that is not there yet is made at once, for which the answer waits up to two seconds. As long as there is none, or none can be made, an SVG drawing stands for it.',
      params: Id,
      responses: imageResponses,
      handle: async ({ params, viewer, request }, deps) =>
        sendCover(request, deps, { ...subject, ...asStored(deps), viewer, id: params.id }),
    }),
  ),
  ...(['book', 'series'] as const).map(kind =>
    route({
      method: 'POST',
      path: `/${kind === 'book' ? 'books' : 'series'}/{id}/thumbnail/generate`,
      permission: 'TasksWrite',
      summary: kind === 'book' ? 'Make the thumbnail of a book' : 'Make the thumbnail of a series',
      description:
        kind === 'book'
          ? 'From the cover in its file.'
          : 'From the cover of the book that stands for the series.',
      params: Id,
      body: body({
        force: maybe(
          Type.Boolean({ default: false, description: 'Also when there is one already.' }),
        ),
      }),
      bodyOptional: true,
      responses: {
        200: TaskStarted,
      },
      handle: async ({ params, body, viewer }, { sql, queue }) => {
        const owner = { kind, id: params.id }
        const force = body.force ?? false
        return { taskId: await remakeThumbnail(sql, { viewer, owner, queue, force }) }
      },
    }),
  ),
]
