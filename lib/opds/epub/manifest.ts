// An EPUB as apps read it resource by resource (Readium Web Publication Manifest, EPUB profile).
import type { EpubContents, EpubResource } from '../../format/epub/contents.ts'
import type { EpubLink } from '../../format/epub/navigation.ts'
import { type Manifest, manifest } from '../json/manifest.ts'
import type { Item } from '../json/pieces.ts'
import type { Publication } from '../publication.ts'
import type { Writing } from '../writing.ts'
import { resourceAddresses } from './address.ts'
import { sentType } from './media-type.ts'

/** `contents` are those of the book. */
export function epubManifest(
  book: Publication,
  contents: EpubContents,
  writing: Writing,
): Manifest {
  const { resources, readingOrder, isFixed } = contents
  const ordered = new Set(readingOrder)
  const address = resourceAddresses(book.id, writing.links)
  const link = (resource: EpubResource) => resourceLink(resource, address(resource.name))
  const lead = (list: readonly EpubLink[]) =>
    leading(list, place => address(resources[place]!.name))
  return manifest(book, 'epub', writing, {
    metadata: { layout: isFixed ? 'fixed' : 'reflowable' },
    readingOrder: readingOrder.values().map(place => link(resources[place]!)),
    resources: resources
      .values()
      .filter((_, place) => !ordered.has(place))
      .map(link),
    toc: lead(contents.toc),
    landmarks: lead(contents.landmarks),
    pageList: lead(contents.pageList),
  })
}

const contained = new Map([
  ['scripted', 'js'],
  ['mathml', 'mathml'],
  ['svg', 'svg'],
  ['remote-resources', 'remote-resources'],
])
const rels = new Map([
  ['nav', 'contents'],
  ['cover-image', 'cover'],
])

function resourceLink(resource: EpubResource, href: string) {
  const { properties, bytes, encryption } = resource
  return {
    href,
    type: sentType(resource),
    rel: properties.flatMap(property => rels.get(property) ?? [])[0],
    size: bytes > 0 ? bytes : null,
    properties: {
      contains: [...new Set(properties.flatMap(property => contained.get(property) ?? []))],
      encrypted: encryption === null ? null : { algorithm: encryption },
    },
  }
}

/** `address` is that of the resource at a place. */
function* leading(list: readonly EpubLink[], address: (place: number) => string): Generator<Item> {
  for (const { title, resource, fragment, kind, children } of list) {
    const href = address(resource)
    yield {
      title,
      href: fragment === '' ? href : `${href}#${encodeURIComponent(fragment)}`,
      rel: kind,
      children: leading(children, address),
    }
  }
}
