// Books as reading apps read them: their file with the links of a protocol, and the caller's progression.
import type { FastifyRequest } from 'fastify'
import type { Identity } from '../../../accounts/identify.ts'
import type { Viewer } from '../../../accounts/viewer.ts'
import { NotFound } from '../../../base/errors.ts'
import type { Static } from '../../../base/schema.ts'
import { bookFile, packedPages } from '../../../catalog/book/book-file.ts'
import { deviceOf } from '../../../http/client/device.ts'
import type { Deps } from '../../../http/deps.ts'
import { singleLine } from '../../../media/metadata/text.ts'
import { unpackPages } from '../../../page/page-list.ts'
import type { Surface } from '../../../reading/entry.ts'
import { openSettings } from '../../../store/setting/setting.ts'
import type { Links } from '../links.ts'
import type { ReadableBook } from '../positions.ts'
import {
  type ProgressionUpdate,
  readProgression,
  storeProgression,
  writtenProgression,
} from '../progression.ts'
import { withoutApiKeys } from '../stored-locator.ts'

export type BookInput = { params: { id: string }; viewer: Viewer; signal: AbortSignal }

/** Throws NotFound, also for a file that is missing on disk. */
export async function readableBook(
  links: Links,
  { params, viewer, signal }: BookInput,
  deps: Deps,
): Promise<ReadableBook> {
  const file = await presentFile(deps, viewer, params.id)
  return {
    file,
    links,
    contents: () => deps.pages.epubs.contents(file, { accountId: viewer.accountId, signal }),
    pageTypes: async () => {
      const packed = await packedPages(deps.sql, file.id)
      return packed === null ? [] : unpackPages(packed).map(page => page.mediaType)
    },
  }
}

/** Throws NotFound, also for a file that is missing on disk. */
export async function presentFile({ sql }: Pick<Deps, 'sql'>, viewer: Viewer, id: string) {
  const file = await bookFile(sql, viewer, id)
  if (file.isMissing) throw new NotFound('The file of the book is missing')
  return file
}

/** The caller's progression in a book; null before it was started. Throws NotFound, Unavailable. */
export async function findProgression(links: Links, input: BookInput, deps: Deps) {
  const book = await readableBook(links, input, deps)
  const name = singleLine(String(await deps.services(openSettings).cached('application.name')))
  // The device of progress that was not written by an app.
  const server = { id: links.base, name: name ?? 'Library' }
  return await readProgression(deps.sql, input.viewer, { book, server })
}

type Update = BookInput & {
  body: Static<typeof ProgressionUpdate>
  identity: Identity
  request: FastifyRequest
  surface: Extract<Surface, 'opds' | 'komga'>
}

/** Stores the progression in a body. Throws Invalid, Conflict, NotFound, Unreadable, Unavailable. */
export async function updateProgression(
  links: Links,
  { body, identity, request, surface, ...input }: Update,
  deps: Deps,
): Promise<void> {
  const written = writtenProgression(body)
  const book = await readableBook(links, input, deps)
  const readingDevice = deviceOf(request, identity, withoutApiKeys(body.device))
  await storeProgression(deps.sql, input.viewer, { ...written, book, readingDevice, surface })
}
