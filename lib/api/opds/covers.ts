// Covers of books and series for reading apps: JPEG whatever they are made of, and an image in any case.
import type { Permission } from '../../auth/permission.ts'
import type { Viewer } from '../../auth/viewer.ts'
import { coverFolders, originalPath } from '../../catalog/cover/cover-files.ts'
import { type CoverSource, coverSource } from '../../catalog/cover/cover-source.ts'
import { coverOfBook, coverOfShownSeries } from '../../catalog/cover/displayed-cover.ts'
import { Failure, Unreadable } from '../../errors.ts'
import type { Deps } from '../../http/deps.ts'
import { type Input, type Route, route } from '../../http/route.ts'
import { frontTag } from '../../page/cover-image.ts'
import type { PageImage } from '../../page/pages.ts'
import { thumbnailTag } from '../../page/thumbnail.ts'
import type { Variant } from '../../page/variant.ts'
import { bytes, ErrorBody, Id } from '../../schema.ts'
import { type CoverAsked, type Form, maxAgeSeconds, sendCover } from '../images/cover-image.ts'
import { imageAnswer, notModified, whenOver } from '../images/image.ts'

/** Of the screens that read comics most are smaller. */
const large: Variant = { width: 1600, height: 1600, format: 'jpeg' }

type Subject = Pick<CoverAsked, 'coverOf'> & {
  kind: 'book' | 'series'
  path: string
  permission: Permission
}
const subjects: Subject[] = [
  { kind: 'book', path: '/books', permission: 'BooksRead', coverOf: coverOfBook },
  { kind: 'series', path: '/series', permission: 'SeriesRead', coverOf: coverOfShownSeries },
]

type Asking = Pick<Input<'auth', never, never, never>, 'request' | 'reply' | 'signal'> & {
  viewer: Viewer
  params: { id: string }
}

export const coverRoutes: Route[] = ([1, 2] as const).flatMap(version =>
  subjects.flatMap(subject => {
    const { kind, path, permission } = subject
    const common = {
      method: 'GET',
      atRoot: true,
      catalogue: version,
      permission,
      cookie: true,
      bucket: 'images',
      params: Id,
      responses: { 200: bytes('image/jpeg'), 304: null, 503: ErrorBody },
    } as const
    const at = `/opds/v${version}${path}/{id}`
    return [
      route({
        ...common,
        path: `${at}/thumbnail.jpg`,
        summary: `The cover of a ${kind}, small`,
        description: 'A drawing where there is none.',
        handle: (input, deps) => sendSmall(subject, input, deps),
      }),
      route({
        ...common,
        path: `${at}/cover.jpg`,
        summary: `The cover of a ${kind}`,
        description: 'At most 1600 pixels a side. The small one where no larger one can be made.',
        handle: (input, deps) => sendLarge(subject, input, deps),
      }),
    ]
  }),
)

function sendSmall({ kind, coverOf }: Subject, { params, viewer, request }: Asking, deps: Deps) {
  return sendCover(request, deps, { viewer, kind, id: params.id, coverOf, ...asJpeg(deps) })
}

const asJpeg = ({ thumbnails }: Deps): Form => ({
  tagOf: name => thumbnailTag(`${name}-jpeg`),
  read: name => thumbnails.readJpeg(name).catch(noneWhere(Unreadable)),
  drawing: thumbnails.drawing,
})

async function sendLarge(subject: Subject, input: Asking, deps: Deps) {
  const { params, viewer, request, reply } = input
  const [source] = await Promise.all([
    coverSource(deps.sql, viewer, { kind: subject.kind, id: params.id }),
    // Whether it is there at all, as its feed says.
    subject.coverOf(deps.sql, viewer, params.id),
  ])
  const tag = tagOf(source)
  const fresh = tag && notModified(request, { tag, maxAgeSeconds })
  if (fresh) return fresh
  const made = await makeLarge(source, deps, input.signal).catch(noneWhere(Failure))
  if (made === null) return sendSmall(subject, input, deps)
  whenOver(reply, made.done)
  return imageAnswer(request, { ...made, maxAgeSeconds })
}

const uploadTag = (name: string) => thumbnailTag(`${name}-large`)

function tagOf(source: CoverSource): string | null {
  if ('upload' in source) return uploadTag(source.upload.name)
  return 'book' in source ? frontTag(source.book, large) : null
}

/** Null when there is nothing to make it of. Throws failures of the file. */
async function makeLarge(
  source: CoverSource,
  { pages, config }: Pick<Deps, 'pages' | 'config'>,
  signal: AbortSignal,
): Promise<PageImage | null> {
  if ('book' in source) return pages.fronts.ofBook(source.book, large, signal)
  if (!('upload' in source)) return null
  const { name, ending } = source.upload
  const path = originalPath(coverFolders(config.data_dir), name, ending)
  return { ...(await pages.fronts.ofFile(path, name, large)), tag: uploadTag(name) }
}

type Kind = abstract new (...args: never[]) => Error

const noneWhere = (kind: Kind) => (error: unknown) => {
  if (error instanceof kind) return null
  throw error
}
