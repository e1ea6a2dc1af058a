// Books as apps read them page by page, or as one file (Readium Web Publication Manifest).
import type { StoredPage } from '../../page/page-list.ts'
import type { Links } from '../links.ts'
import { coverPath, filePath, fileType } from '../naming.ts'
import { positionsType } from '../positions.ts'
import type { Publication } from '../publication.ts'
import type { Writing } from '../writing.ts'
import { publicationType } from './media.ts'
import { metadataOf, type Profile, profileAddress } from './metadata.ts'
import { manifestPath, manifestType, progressionLink } from './publication.ts'
import { withoutEmpty } from './without-empty.ts'

/** One image a page: `pages` are all of the book's, in reading order. */
export function divinaManifest(
  book: Publication,
  pages: readonly StoredPage[],
  writing: Writing,
): object {
  const { links } = writing
  const at = `/books/${book.id}/pages`
  return manifest(book, 'divina', writing, {
    readingOrder: pages.map((page, i) => pageLink(page, links.to(`${at}/${i + 1}`))),
    resources: [cover(book, links)],
  })
}

/** The file itself. */
export function pdfManifest(book: Publication, writing: Writing): object {
  const { links } = writing
  return manifest(book, 'pdf', writing, {
    readingOrder: [{ href: links.to(filePath(book)), type: fileType('pdf', 2) }],
    resources: [cover(book, links)],
  })
}

function manifest(
  book: Publication,
  profile: Profile,
  { links, may }: Writing,
  content: object,
): object {
  const at = `/books/${book.id}`
  // Those of an EPUB are places in its text, also where its pages are drawn.
  const hasPlaces = profile === 'divina' && book.format !== 'epub'
  return withoutEmpty({
    '@context': 'https://readium.org/webpub-manifest/context.jsonld',
    metadata: { ...metadataOf(book, links, true), conformsTo: profileAddress(profile) },
    links: [
      {
        rel: 'self',
        href: links.to(manifestPath(book.id, profile)),
        type: manifestType(profile),
      },
      { rel: 'alternate', href: links.to(at), type: publicationType },
      hasPlaces && {
        rel: 'http://readium.org/position-list',
        href: links.to(`${at}/positions`),
        type: positionsType,
      },
      may.sync && progressionLink(book.id, links),
    ].filter(Boolean),
    ...content,
  })
}

// What every app shows.
const plain = new Set(['image/jpeg', 'image/png', 'image/gif'])

function pageLink({ mediaType, width, height }: StoredPage, href: string): object {
  const isPlain = plain.has(mediaType)
  return {
    href,
    type: mediaType,
    width: width || null,
    height: height || null,
    alternate: isPlain ? [] : [{ href: `${href}?format=jpeg`, type: 'image/jpeg' }],
  }
}

const cover = ({ id }: Publication, links: Links) => ({
  rel: 'cover',
  href: links.to(coverPath(`/books/${id}`)),
  type: 'image/jpeg',
})
