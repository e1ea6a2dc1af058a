// Books as apps read them page by page, as one file, or by what lies in it (Readium Web Publication
// Manifest).
import type { StoredPage } from '../../page/page-list.ts'
import type { Links } from '../links.ts'
import { coverPath, filePath, fileType } from '../naming.ts'
import { positionsType } from '../positions.ts'
import type { Publication } from '../publication.ts'
import type { Writing } from '../writing.ts'
import { publicationType } from './media.ts'
import { metadataOf, type Profile, profileAddress } from './metadata.ts'
import { type Item, inPieces } from './pieces.ts'
import { manifestPath, manifestType, progressionLink } from './publication.ts'
import { withoutEmpty } from './without-empty.ts'

/** The text of a manifest, in pieces. */
export type Manifest = Generator<string, void>

/** One image a page: `pages` are all of the book's, in reading order. */
export function divinaManifest(
  book: Publication,
  pages: readonly StoredPage[],
  writing: Writing,
): Manifest {
  const at = `/books/${book.id}/pages`
  const readingOrder = pages
    .values()
    .map((page, i) => pageLink(page, writing.links.to(`${at}/${i + 1}`)))
  return manifest(book, 'divina', writing, { readingOrder })
}

/** The file itself. */
export function pdfManifest(book: Publication, writing: Writing): Manifest {
  const file = { href: writing.links.to(filePath(book)), type: fileType('pdf', 2) }
  return manifest(book, 'pdf', writing, { readingOrder: [file] })
}

type Content = {
  /** What this profile says beside what is said of every book. */
  metadata?: object
  readingOrder: Iterable<Item>
  /** Beside the cover. */
  resources?: Iterable<Item>
  toc?: Iterable<Item>
  landmarks?: Iterable<Item>
  pageList?: Iterable<Item>
}

export function manifest(
  book: Publication,
  profile: Profile,
  writing: Writing,
  { metadata = {}, resources = [], ...lists }: Content,
): Manifest {
  const { links } = writing
  const head = {
    '@context': 'https://readium.org/webpub-manifest/context.jsonld',
    metadata: {
      ...metadataOf(book, links, true),
      conformsTo: profileAddress(profile),
      ...metadata,
    },
    links: ownLinks(book, profile, writing),
  }
  // Some apps stumble where there are no resources: so the cover is always there.
  return inPieces(withoutEmpty(head), { ...lists, resources: withCover(book, links, resources) })
}

function ownLinks(book: Publication, profile: Profile, { links, may }: Writing) {
  const at = `/books/${book.id}`
  // Those of an EPUB are places in its text, also where its pages are drawn; a PDF is one resource.
  const hasPositions = profile === 'epub' || (profile === 'divina' && book.format !== 'epub')
  return [
    { rel: 'self', href: links.to(manifestPath(book.id, profile)), type: manifestType(profile) },
    { rel: 'alternate', href: links.to(at), type: publicationType },
    hasPositions && {
      rel: 'http://readium.org/position-list',
      href: links.to(`${at}/positions`),
      type: positionsType,
    },
    may.sync && progressionLink(book.id, links),
  ].filter(Boolean)
}

function* withCover({ id }: Publication, links: Links, others: Iterable<Item>): Generator<Item> {
  yield { rel: 'cover', href: links.to(coverPath(`/books/${id}`)), type: 'image/jpeg' }
  yield* others
}

// What every app shows.
const plain = new Set(['image/jpeg', 'image/png', 'image/gif'])

function pageLink({ mediaType, width, height }: StoredPage, href: string): Item {
  const isPlain = plain.has(mediaType)
  return {
    href,
    type: mediaType,
    width: width || null,
    height: height || null,
    alternate: isPlain ? [] : [{ href: `${href}?format=jpeg`, type: 'image/jpeg' }],
  }
}
