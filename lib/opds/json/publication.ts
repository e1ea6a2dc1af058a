// A book in OPDS 2.0: what is said of it, where it is had, and how it looks.
import type { Links } from '../links.ts'
import { coverPath, filePath, fileType, thumbnailPath } from '../naming.ts'
import type { Publication } from '../publication.ts'
import type { Writing } from '../writing.ts'
import { authenticationAddress } from './authentication.ts'
import {
  authenticationType,
  divinaType,
  progressionType,
  publicationType,
  webpubType,
} from './media.ts'
import { metadataOf, type Profile, profileOf } from './metadata.ts'
import { withoutEmpty } from './without-empty.ts'

/** A document of its own. */
export const jsonPublication = (book: Publication, writing: Writing): object =>
  withoutEmpty(publicationOf(book, writing, true))

/** `isMixed`: it stands beside books of other series, or alone. What is not known may be empty. */
export function publicationOf(book: Publication, writing: Writing, isMixed: boolean): object {
  const { links } = writing
  const properties = signIn(links)
  return {
    metadata: metadataOf(book, links, isMixed),
    links: linksOf(book, writing).map(link => ({ ...link, properties })),
    images: imagesOf(book, links),
  }
}

type Link = { rel: string; href: string; type: string; size?: number | null }

function linksOf(book: Publication, { links, may }: Writing): Link[] {
  const at = `/books/${book.id}`
  return [
    { rel: 'self', href: links.to(at), type: publicationType },
    {
      // The long name, which every app knows; never `open-access`: that promises it to anyone.
      rel: 'http://opds-spec.org/acquisition',
      href: links.to(filePath(book)),
      type: fileType(book.format, 2),
      size: book.fileSize > 0 ? book.fileSize : null,
    },
    ...manifestsOf(book, may.stream).map(profile => ({
      rel: 'alternate',
      href: links.to(manifestPath(book.id, profile)),
      type: manifestType(profile),
    })),
    ...(may.sync && canBeRead(book) ? [progressionLink(book.id, links)] : []),
  ]
}

/** Where the reader's place is told and asked for. */
export const progressionLink = (id: string, links: Links): Link => ({
  rel: 'http://www.cantook.com/api/progression',
  href: links.to(`/books/${id}/progression`),
  type: progressionType,
})

const canBeRead = ({ format, pageCount }: Publication) => format !== null && pageCount > 0

/** The manifests that a book has, its own first. Whoever may not see pages is shown none. */
export function manifestsOf(book: Publication, mayStream = true): Profile[] {
  if (book.format === null || !mayStream || !canBeRead(book)) return []
  const own = profileOf(book.format)
  return own === 'divina' || book.streamedAs === null ? [own] : [own, 'divina']
}

export const manifestPath = (id: string, profile: Profile): string =>
  `/books/${id}/manifest/${profile}`

export const manifestType = (profile: Profile): string =>
  profile === 'divina' ? divinaType : webpubType

const signIn = (links: Links) => ({
  authenticate: { href: authenticationAddress(links), type: authenticationType },
})

/** The small one first: apps that know no relations take the first. */
function imagesOf({ id }: Publication, links: Links) {
  const image = { type: 'image/jpeg' }
  return [
    {
      rel: 'http://opds-spec.org/image/thumbnail',
      href: links.to(thumbnailPath(`/books/${id}`)),
      ...image,
    },
    { rel: 'http://opds-spec.org/image', href: links.to(coverPath(`/books/${id}`)), ...image },
  ]
}
