// JSON publication writer (OPDS 2.0): metadata, links and images of a book; and the authentication document, which they
// name: how to sign in (Authentication for OPDS 1.0).
import { singleLine } from '../../../media/metadata/text.ts'
import { withoutEmpty } from '../../publication/json-writer.ts'
import { coverPath, filePath, type Links, thumbnailPath } from '../../publication/links.ts'
import {
  authenticationType,
  divinaType,
  feedType,
  fileType,
  progressionType,
  publicationType,
  webpubType,
} from '../../publication/media-types.ts'
import type { Publication } from '../../publication/publication.ts'
import type { FeedContext } from '../feed.ts'
import { metadataOf, type Profile, profileOf } from './metadata.ts'

/** A publication as a document. */
export const jsonPublication = (book: Publication, context: FeedContext): object =>
  withoutEmpty(publicationOf(book, context, true))

/** `isMixed`: whether it is shown among books of other series. Unknown values may be empty. */
export function publicationOf(book: Publication, context: FeedContext, isMixed: boolean): object {
  const { links } = context
  const properties = authenticateProperty(links)
  return {
    metadata: metadataOf(book, links, isMixed),
    links: linksOf(book, context).map(link => ({ ...link, properties })),
    images: imagesOf(book, links),
  }
}

type Link = { rel: string; href: string; type: string; size?: number | null }

function linksOf(book: Publication, { links, allows }: FeedContext): Link[] {
  const path = `/books/${book.id}`
  return [
    { rel: 'self', href: links.to(path), type: publicationType },
    {
      // The full relation, which every app knows; `open-access` would promise the file to anyone.
      rel: 'http://opds-spec.org/acquisition',
      href: links.to(filePath(book)),
      type: fileType(book.format, 2),
      size: book.fileSize > 0 ? book.fileSize : null,
    },
    ...manifestsOf(book, allows.pageStreaming).map(profile => ({
      rel: 'alternate',
      href: links.to(manifestPath(book.id, profile)),
      type: manifestType(profile),
    })),
    ...(allows.progressSync && canBeRead(book) ? [progressionLink(book.id, links)] : []),
  ]
}

/** Where an app reads and writes progress. */
export const progressionLink = (id: string, links: Links): Link => ({
  rel: 'http://www.cantook.com/api/progression',
  href: links.to(`/books/${id}/progression`),
  type: progressionType,
})

const canBeRead = ({ format, pageCount }: Publication) => format !== null && pageCount > 0

/** The profiles in which a book has a manifest, its format's first; none without permission to see pages. */
export function manifestsOf(book: Publication, allowsPages = true): Profile[] {
  if (book.format === null || !allowsPages || !canBeRead(book)) return []
  const profile = profileOf(book.format)
  return profile === 'divina' || book.streamMediaType === null ? [profile] : [profile, 'divina']
}

export const manifestPath = (id: string, profile: Profile): string =>
  `/books/${id}/manifest/${profile}`

export const manifestType = (profile: Profile): string =>
  profile === 'divina' ? divinaType : webpubType

const authenticateProperty = (links: Links) => ({
  authenticate: { href: authenticationAddress(links), type: authenticationType },
})

/** The thumbnail comes first: apps that do not know the relations use the first image. */
function imagesOf({ id }: Publication, links: Links) {
  const path = `/books/${id}`
  const type = 'image/jpeg'
  return [
    { rel: 'http://opds-spec.org/image/thumbnail', href: links.to(thumbnailPath(path)), type },
    { rel: 'http://opds-spec.org/image', href: links.to(coverPath(path)), type },
  ]
}

/** URL of the document, also for clients of the OPDS 1.2 catalog. */
export const authenticationAddress = (links: Links): string => `${links.root(2)}/auth`

/** The document is public. */
export function authenticationDocument(links: Links, serverName: string): object {
  const id = authenticationAddress(links)
  const title = singleLine(serverName) ?? 'Library'
  return {
    id,
    title,
    description: `Sign in to ${title} with your account, or with an API key as the password.`,
    links: [
      { rel: 'self', href: id, type: authenticationType },
      { rel: 'start', href: links.root(2), type: feedType },
    ],
    authentication: [
      {
        type: 'http://opds-spec.org/auth/basic',
        labels: { login: 'User name or e-mail', password: 'Password or API key' },
      },
    ],
  }
}
