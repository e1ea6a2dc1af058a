// Readium manifest writer (Readium Web Publication Manifest): how apps read a book, page by page or as one
// file.
import { isReflowable } from '../../../media/format/formats.ts'
import type { StoredPage } from '../../../page/page-list.ts'
import { type JsonItem, withoutEmpty, writeInChunks } from '../../publication/json-writer.ts'
import { coverPath, filePath, type Links } from '../../publication/links.ts'
import { fileType, positionsType, publicationType } from '../../publication/media-types.ts'
import type { Publication } from '../../publication/publication.ts'
import type { FeedContext } from '../feed.ts'
import { metadataOf, type Profile, profileUri } from './metadata.ts'
import { manifestPath, manifestType, progressionLink } from './publication.ts'

/** The text of a manifest, in chunks. */
export type Manifest = Generator<string, void>

/** One image per page; `pages` are all pages of the book in reading order. */
export function divinaManifest(
  book: Publication,
  pages: readonly StoredPage[],
  context: FeedContext,
): Manifest {
  const path = `/books/${book.id}/pages`
  const readingOrder = pages
    .values()
    .map((page, i) => pageLink(page, context.links.to(`${path}/${i + 1}`)))
  return createManifest(book, 'divina', context, { readingOrder })
}

/** The file as the only resource. */
export function pdfManifest(book: Publication, context: FeedContext): Manifest {
  const file = { href: context.links.to(filePath(book)), type: fileType('pdf', 2) }
  return createManifest(book, 'pdf', context, { readingOrder: [file] })
}

type Content = {
  /** Metadata of the profile, in addition to what every book has. */
  metadata?: object
  readingOrder: Iterable<JsonItem>
  /** In addition to the cover. */
  resources?: Iterable<JsonItem>
  toc?: Iterable<JsonItem>
  landmarks?: Iterable<JsonItem>
  pageList?: Iterable<JsonItem>
}

export function createManifest(
  book: Publication,
  profile: Profile,
  context: FeedContext,
  { metadata = {}, resources = [], ...lists }: Content,
): Manifest {
  const { links } = context
  const head = {
    '@context': 'https://readium.org/webpub-manifest/context.jsonld',
    metadata: {
      ...metadataOf(book, links, true),
      conformsTo: profileUri(profile),
      ...metadata,
    },
    links: manifestLinks(book, profile, context),
  }
  // Some apps fail on manifests without resources, so the cover is always included.
  return writeInChunks(withoutEmpty(head), {
    ...lists,
    resources: withCover(book, links, resources),
  })
}

function manifestLinks(book: Publication, profile: Profile, { links, allows }: FeedContext) {
  const path = `/books/${book.id}`
  // Positions of an EPUB refer to its text, even if its pages are images; a PDF is one resource.
  const hasPositions = profile === 'epub' || (profile === 'divina' && !isReflowable(book.format))
  return [
    { rel: 'self', href: links.to(manifestPath(book.id, profile)), type: manifestType(profile) },
    { rel: 'alternate', href: links.to(path), type: publicationType },
    hasPositions && {
      rel: 'http://readium.org/position-list',
      href: links.to(`${path}/positions`),
      type: positionsType,
    },
    allows.progressSync && progressionLink(book.id, links),
  ].filter(Boolean)
}

function* withCover(
  { id }: Publication,
  links: Links,
  others: Iterable<JsonItem>,
): Generator<JsonItem> {
  yield { rel: 'cover', href: links.to(coverPath(`/books/${id}`)), type: 'image/jpeg' }
  yield* others
}

/** Types that every app displays. */
const displayable = new Set(['image/jpeg', 'image/png', 'image/gif'])

function pageLink({ mediaType, width, height }: StoredPage, href: string): JsonItem {
  return {
    href,
    type: mediaType,
    width: width || null,
    height: height || null,
    alternate: displayable.has(mediaType)
      ? []
      : [{ href: `${href}?format=jpeg`, type: 'image/jpeg' }],
  }
}
