// Covers for OPDS apps: always JPEG, with a placeholder while there is no cover.
import type { Viewer } from '../../../accounts/viewer.ts'
import { Failure } from '../../../base/errors.ts'
import { bytes, ErrorBody } from '../../../base/schema.ts'
import { coverFolders, originalPath } from '../../../catalog/cover/cover-files.ts'
import {
  type CoverSource,
  coverOfBook,
  coverOfBrowsableSeries,
  coverSource,
} from '../../../catalog/cover/displayed-cover.ts'
import {
  asJpeg,
  coverResponse,
  maxAgeSeconds,
} from '../../../catalog/cover/routes/cover-response.ts'
import type { Deps } from '../../../http/deps.ts'
import { whenClosed } from '../../../http/exchange.ts'
import { BookId, SeriesId } from '../../../http/params.ts'
import { type Input, type Route, route } from '../../../http/route.ts'
import { coverMember } from '../../../organize/grouping/cover.ts'
import type { Grouping } from '../../../organize/grouping/grouping.ts'
import { groupingThumbnail } from '../../../organize/routes/grouping-covers.ts'
import { ofCollections, ofReadLists } from '../../../organize/routes/grouping-kind.ts'
import { bookCoverEtag } from '../../../page/cover-image.ts'
import type { PageImage } from '../../../page/pages.ts'
import type { Client } from '../../../page/pool.ts'
import { imageResponse, notModified } from '../../../page/routes/image-response.ts'
import { thumbnailEtag } from '../../../page/thumbnail.ts'
import type { Variant } from '../../../page/variant.ts'
import { inCatalog } from './protocol.ts'

/** Most screens used for reading comics are smaller. */
const large: Variant = { width: 1600, height: 1600, format: 'jpeg' }

const byBook = { kind: 'book', coverOf: coverOfBook, permission: 'BooksRead' } as const
const bySeries = {
  kind: 'series',
  coverOf: coverOfBrowsableSeries,
  permission: 'SeriesRead',
} as const

type Subject = (typeof byBook | typeof bySeries) & {
  /** In operation ids. */
  one: string
  noun: string
  path: string
  params: typeof BookId
  /** The grouping whose members provide the cover. */
  grouping?: Grouping
}
const subjects: Subject[] = [
  { ...byBook, one: 'Book', noun: 'book', path: '/books', params: BookId },
  { ...bySeries, one: 'Series', noun: 'series', path: '/series', params: SeriesId },
  { ...ofCollections, ...bySeries },
  { ...ofReadLists, ...byBook },
]

type CoverInput = Pick<Input<'auth', never, never, never>, 'request' | 'reply' | 'signal'> & {
  viewer: Viewer
  params: { id: string }
}

export const coverRoutes: Route[] = ([1, 2] as const).flatMap(version =>
  subjects.flatMap(subject => {
    const { noun, one, params, permission, grouping } = subject
    const respond = async (respond: typeof thumbnailResponse, input: CoverInput, deps: Deps) => {
      if (!grouping) return respond(subject, input, deps)
      const { viewer, params } = input
      const id = await coverMember(deps, viewer, grouping, params.id)
      return id === null
        ? placeholderResponse(input, deps)
        : respond(subject, { ...input, params: { id } }, deps)
    }
    const thumbnail = async (input: CoverInput, deps: Deps) => {
      if (!grouping) return thumbnailResponse(subject, input, deps)
      const { request, viewer, params, signal } = input
      const image = await groupingThumbnail(request, deps, {
        ...{ viewer, grouping, id: params.id, signal },
        ...{ ...asJpeg(deps), format: 'jpeg' },
      })
      return image ?? placeholderResponse(input, deps)
    }
    const common = {
      ...inCatalog,
      permission,
      cookie: true,
      bucket: 'images',
      params,
      responses: { 200: bytes('image/jpeg'), 304: null, 503: ErrorBody },
    } as const
    const path = `/opds/v${version}${subject.path}/{id}`
    return [
      route(`GET ${path}/thumbnail.jpg`, {
        ...common,
        operationId: `getOpds${version}${one}Thumbnail`,
        summary: `Get the cover thumbnail of a ${noun} (JPEG)`,
        description: 'Returns a placeholder if there is no cover.',
        handle: thumbnail,
      }),
      route(`GET ${path}/cover.jpg`, {
        ...common,
        operationId: `getOpds${version}${one}Cover`,
        summary: `Get the cover of a ${noun} (JPEG)`,
        description:
          'At most 1600 pixels wide and high. Returns the thumbnail if no larger image is available.',
        handle: (input, deps) => respond(largeCoverResponse, input, deps),
      }),
    ]
  }),
)

function thumbnailResponse(
  { kind, coverOf }: Subject,
  { params, viewer, request }: CoverInput,
  deps: Deps,
) {
  return coverResponse(request, deps, { viewer, kind, id: params.id, coverOf, ...asJpeg(deps) })
}

/** For a collection without members. */
async function placeholderResponse({ request }: CoverInput, deps: Deps) {
  const { bytes, mediaType, etag } = await asJpeg(deps).placeholder()
  const image = { body: bytes, length: bytes.length, mediaType, etag, maxAgeSeconds: 0 }
  return notModified(request, { etag, maxAgeSeconds: 0 }) ?? imageResponse(request, image)
}

async function largeCoverResponse(subject: Subject, input: CoverInput, deps: Deps) {
  const { params, viewer, request, reply, signal } = input
  const [source] = await Promise.all([
    coverSource(deps.sql, viewer, { kind: subject.kind, id: params.id }),
    // Throws NotFound for what the feeds do not show.
    subject.coverOf(deps.sql, viewer, params.id),
  ])
  const etag = etagOf(source)
  const fresh = etag && notModified(request, { etag, maxAgeSeconds })
  if (fresh) return fresh
  const client = { accountId: viewer.accountId, signal }
  const image = await largeCover(source, deps, client).catch(nullFor(Failure))
  if (image === null) return thumbnailResponse(subject, input, deps)
  whenClosed(reply, image.release)
  return imageResponse(request, { ...image, maxAgeSeconds })
}

const uploadEtag = (name: string) => thumbnailEtag(`${name}-large`)

function etagOf(source: CoverSource): string | null {
  if ('upload' in source) return uploadEtag(source.upload.name)
  return 'book' in source ? bookCoverEtag(source.book, large) : null
}

/** Null if there is neither a cover in the book nor an upload. Throws the errors of the file. */
async function largeCover(
  source: CoverSource,
  { pages, config }: Pick<Deps, 'pages' | 'config'>,
  client: Client,
): Promise<PageImage | null> {
  if ('book' in source) return pages.coverImages.fromBook(source.book, large, client)
  if (!('upload' in source)) return null
  const { name, extension } = source.upload
  const path = originalPath(coverFolders(config.data_dir), name, extension)
  const image = await pages.coverImages.fromFile(path, name, large, client)
  return { ...image, etag: uploadEtag(name) }
}

type ErrorClass = abstract new (...args: never[]) => Error

const nullFor = (kind: ErrorClass) => (error: unknown) => {
  if (error instanceof kind) return null
  throw error
}
