// The answer to whoever asks for a small cover, under whatever address and in whatever form.
import type { FastifyRequest } from 'fastify'
import type { Sql } from 'postgres'
import type { Viewer } from '../../auth/viewer.ts'
import { awaitCover } from '../../catalog/cover/cover-on-demand.ts'
import { dueCover, type Shown } from '../../catalog/cover/missing-cover.ts'
import type { Deps } from '../../http/deps.ts'
import { countShown } from '../../metrics/book.ts'
import type { Thumbnail } from '../../page/thumbnail.ts'
import { imageAnswer, notModified } from './image.ts'

/** Whose cover, and how it is found. */
export type CoverAsked = {
  viewer: Viewer
  kind: Shown
  id: string
  coverOf: (sql: Sql, viewer: Viewer, id: string) => Promise<string | null>
}

/** In what form covers are sent. */
export type Form = {
  /** Entity tag of the cover of that name. */
  tagOf: (name: string) => string
  /** Null when its file is gone. */
  read: (name: string) => Promise<Thumbnail | null>
  /** What stands for a cover that is not there. */
  drawing: () => Thumbnail | Promise<Thumbnail>
}

export const maxAgeSeconds = 300
const drawingSeconds = 10

/** The cover, made at once where there is none yet; else the drawing. Throws NotFound for what is not seen. */
export async function sendCover(
  request: FastifyRequest,
  { sql, queue }: Pick<Deps, 'sql' | 'queue'>,
  { viewer, kind, id, coverOf, ...form }: CoverAsked & Form,
) {
  const send = ({ bytes, mediaType, tag }: Thumbnail, maxAgeSeconds: number) =>
    notModified(request, { tag, maxAgeSeconds }) ??
    imageAnswer(request, { body: bytes, length: bytes.length, mediaType, tag, maxAgeSeconds })
  const read = async (name: string | null) => {
    const found = name && (await form.read(name))
    return found ? { ...found, tag: form.tagOf(name!) } : null
  }
  const name = await coverOf(sql, viewer, id)
  const fresh = name && notModified(request, { tag: form.tagOf(name), maxAgeSeconds })
  if (fresh) return counted('hit', fresh)
  const found = await read(name)
  if (found) return counted('hit', send(found, maxAgeSeconds))
  const due = await dueCover(sql, { viewer, kind, id, lost: name })
  if (due === null) return counted('miss', send(await form.drawing(), drawingSeconds))
  const isWaitedFor = await awaitCover(sql, queue, due)
  const made = isWaitedFor ? await read(await coverOf(sql, viewer, id)) : null
  // Not kept: whoever asks again may find the cover.
  return made
    ? counted('made', send(made, maxAgeSeconds))
    : counted('miss', send(await form.drawing(), 0))
}

function counted<T>(result: Parameters<typeof countShown>[0], answer: T): T {
  countShown(result)
  return answer
}
