// Small covers of books, series and libraries. Where there is none yet a drawing stands for it.
import type { FastifyRequest } from 'fastify'
import type { Sql } from 'postgres'
import type { Permission } from '../auth/permission.ts'
import { dueCover, type Shown } from '../catalog/cover/cover-due.ts'
import { coverOfBook, coverOfLibrary, coverOfSeries } from '../catalog/cover/cover-shown.ts'
import { remakeThumbnail } from '../catalog/cover/cover-task.ts'
import { awaitCover } from '../catalog/cover/cover-wait.ts'
import type { Viewer } from '../catalog/viewer.ts'
import { countShown } from '../metrics/book.ts'
import { placeholder, type Thumbnail, thumbnailTag } from '../page/thumbnail.ts'
import { body, Id, maybe, Type } from '../schema.ts'
import { TaskStarted } from '../task/task-record.ts'
import type { Deps } from './deps.ts'
import { imageAnswer, imageResponses, notModified } from './image.ts'
import { route } from './route.ts'

type Subject = {
  path: string
  kind: Shown
  permission: Permission
  summary: string
  coverOf: (sql: Sql, viewer: Viewer, id: string) => Promise<string | null>
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

const maxAgeSeconds = 300
const placeholderSeconds = 10

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
        sendCover(request, deps, { ...subject, viewer, id: params.id }),
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

type Asked = Subject & { viewer: Viewer; id: string }

async function sendCover(request: FastifyRequest, deps: Deps, asked: Asked) {
  const { sql, queue, thumbnails } = deps
  const { viewer, kind, id, coverOf } = asked
  const send = ({ bytes, mediaType, tag }: Thumbnail, maxAgeSeconds: number) =>
    notModified(request, { tag, maxAgeSeconds }) ??
    imageAnswer(request, { body: bytes, length: bytes.length, mediaType, tag, maxAgeSeconds })
  const name = await coverOf(sql, viewer, id)
  const fresh = name && notModified(request, { tag: thumbnailTag(name), maxAgeSeconds })
  if (fresh) return counted('hit', fresh)
  const found = name && (await thumbnails.read(name))
  if (found) return counted('hit', send(found, maxAgeSeconds))
  const due = await dueCover(sql, { viewer, kind, id, lost: name })
  if (due === null) return counted('miss', send(placeholder, placeholderSeconds))
  const made = (await awaitCover(sql, queue, due)) && (await coverOf(sql, viewer, id))
  const shown = made && (await thumbnails.read(made))
  // Not kept: whoever asks again may find the cover.
  return shown ? counted('made', send(shown, maxAgeSeconds)) : counted('miss', send(placeholder, 0))
}

function counted<T>(result: Parameters<typeof countShown>[0], answer: T): T {
  countShown(result)
  return answer
}
