// Small covers of books, series and libraries. Where there is none yet a drawing stands for it.
import type { FastifyRequest } from 'fastify'
import type { Sql } from 'postgres'
import type { Permission } from '../auth/permission.ts'
import { coverOfBook, coverOfLibrary, coverOfSeries } from '../catalog/cover/cover-shown.ts'
import { remakeThumbnail } from '../catalog/cover/cover-task.ts'
import type { Viewer } from '../catalog/viewer.ts'
import { placeholder, type Thumbnail, thumbnailTag } from '../page/thumbnail.ts'
import { body, Id, maybe, record, Type, uuid } from '../schema.ts'
import type { Deps } from './deps.ts'
import { imageAnswer, imageResponses, notModified } from './image.ts'
import { route } from './route.ts'

type Subject = {
  path: string
  permission: Permission
  summary: string
  coverOf: (sql: Sql, viewer: Viewer, id: string) => Promise<string | null>
}

const subjects: Subject[] = [
  {
    path: '/books',
    permission: 'BooksRead',
    summary: 'The cover of a book, small',
    coverOf: coverOfBook,
  },
  {
    path: '/series',
    permission: 'SeriesRead',
    summary: 'The cover of a series, small',
    coverOf: coverOfSeries,
  },
  {
    path: '/libraries',
    permission: 'LibrariesRead',
    summary: 'The cover of the first series of a library, small',
    coverOf: coverOfLibrary,
  },
]

const maxAgeSeconds = 300
const placeholderSeconds = 10

export const thumbnails = [
  ...subjects.map(({ path, permission, summary, coverOf }) =>
    route({
      method: 'GET',
      path: `${path}/{id}/thumbnail`,
      permission,
      cookie: true,
      bucket: 'images',
      summary,
      description: 'An SVG drawing, which is soon stale, as long as there is no cover.',
      params: Id,
      responses: imageResponses,
      handle: async ({ params, viewer, request }, { sql, thumbnails }) =>
        sendCover(request, await coverOf(sql, viewer, params.id), thumbnails),
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
        200: record(
          { taskId: uuid({ description: 'Of the work in the background.' }) },
          { component: 'TaskStarted' },
        ),
      },
      handle: async ({ params, body, viewer }, { sql, queue }) => {
        const owner = { kind, id: params.id }
        const force = body.force ?? false
        return { taskId: await remakeThumbnail(sql, { viewer, owner, queue, force }) }
      },
    }),
  ),
]

async function sendCover(
  request: FastifyRequest,
  name: string | null,
  thumbnails: Deps['thumbnails'],
) {
  const fresh = name && notModified(request, { tag: thumbnailTag(name), maxAgeSeconds })
  if (fresh) return fresh
  const found = name === null ? null : await thumbnails.read(name)
  const send = ({ bytes, mediaType, tag }: Thumbnail, maxAgeSeconds: number) =>
    notModified(request, { tag, maxAgeSeconds }) ??
    imageAnswer(request, { body: bytes, length: bytes.length, mediaType, tag, maxAgeSeconds })
  return found ? send(found, maxAgeSeconds) : send(placeholder, placeholderSeconds)
}
