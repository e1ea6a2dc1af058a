// An EPUB as apps read it resource by resource (Readium Web Publication Manifest, EPUB profile).
import type { BookFile } from '../../catalog/file-place.ts'
import type { EpubContents, EpubResource } from '../../format/epub-contents.ts'
import type { EpubLink } from '../../format/epub-navigation.ts'
import type { Pages } from '../../page/pages.ts'
import { progressionType, publicationType } from '../json/media.ts'
import { metadataOf, profileAddress } from '../json/metadata.ts'
import { manifestPath, manifestType } from '../json/publication.ts'
import { withoutEmpty } from '../json/without-empty.ts'
import type { Links } from '../links.ts'
import { coverPath } from '../naming.ts'
import { positionsType } from '../positions.ts'
import type { Publication } from '../publication.ts'
import type { Writing } from '../writing.ts'
import { resourceAddress } from './address.ts'
import { sentType } from './media-type.ts'

type Asked = {
  book: Publication
  /** Of the same book. */
  file: BookFile
  writing: Writing
  signal?: AbortSignal
}

/** Throws NotFound without the file, Unreadable for one that is no good EPUB, Unavailable. */
export async function epubManifest(
  pages: Pick<Pages, 'epubs'>,
  { book, file, writing, signal }: Asked,
): Promise<object> {
  return manifestOf(book, await pages.epubs.contents(file, signal), writing)
}

function manifestOf(book: Publication, contents: EpubContents, writing: Writing): object {
  const { links } = writing
  const { resources, readingOrder, isFixed } = contents
  const isRead = new Set(readingOrder)
  const linked = resources.map(resource => resourceLink(resource, book.id, links))
  const lead = (list: readonly EpubLink[]) => list.map(link => leading(link, linked))
  return withoutEmpty({
    '@context': 'https://readium.org/webpub-manifest/context.jsonld',
    metadata: {
      ...metadataOf(book, links, true),
      conformsTo: profileAddress('epub'),
      layout: isFixed ? 'fixed' : 'reflowable',
    },
    links: ownLinks(book, writing),
    readingOrder: readingOrder.map(place => linked[place]),
    // Some apps stumble where there are none: so the cover is always there.
    resources: [cover(book, links), ...linked.filter((_, place) => !isRead.has(place))],
    toc: lead(contents.toc),
    landmarks: lead(contents.landmarks),
    pageList: lead(contents.pageList),
  })
}

function ownLinks({ id }: Publication, { links, may }: Writing) {
  const at = `/books/${id}`
  return [
    { rel: 'self', href: links.to(manifestPath(id, 'epub')), type: manifestType('epub') },
    { rel: 'alternate', href: links.to(at), type: publicationType },
    {
      rel: 'http://readium.org/position-list',
      href: links.to(`${at}/positions`),
      type: positionsType,
    },
    may.sync && {
      rel: 'http://www.cantook.com/api/progression',
      href: links.to(`${at}/progression`),
      type: progressionType,
    },
  ].filter(Boolean)
}

const contained: Record<string, string> = {
  scripted: 'js',
  mathml: 'mathml',
  svg: 'svg',
  'remote-resources': 'remote-resources',
}

function resourceLink(resource: EpubResource, bookId: string, links: Links) {
  const { name, properties, bytes, encryption } = resource
  const rels: Record<string, string> = { nav: 'contents', 'cover-image': 'cover' }
  return {
    href: resourceAddress(bookId, name, links),
    type: sentType(resource),
    rel: properties.flatMap(property => rels[property] ?? [])[0],
    size: bytes > 0 ? bytes : null,
    properties: {
      contains: [...new Set(properties.flatMap(property => contained[property] ?? []))],
      encrypted: encryption === null ? null : { algorithm: encryption },
    },
  }
}

type Leading = { title: string; href: string; rel: string; children: Leading[] }

function leading(link: EpubLink, linked: readonly { href: string }[]): Leading {
  const { href } = linked[link.resource]!
  return {
    title: link.title,
    href: link.fragment === '' ? href : `${href}#${encodeURIComponent(link.fragment)}`,
    rel: link.kind,
    children: link.children.map(child => leading(child, linked)),
  }
}

const cover = ({ id }: Publication, links: Links) => ({
  rel: 'cover',
  href: links.to(coverPath(`/books/${id}`)),
  type: 'image/jpeg',
})
