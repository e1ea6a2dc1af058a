// Readium manifest of an EPUB, resource by resource (Readium Web Publication Manifest, EPUB profile).
import type { EpubContents, EpubResource } from '../../../media/format/epub/contents.ts'
import type { EpubLink } from '../../../media/format/epub/navigation.ts'
import type { Rendition } from '../../../media/format/epub/package.ts'
import type { JsonItem } from '../../publication/json-writer.ts'
import { resourceLinks } from '../../publication/links.ts'
import { servedType } from '../../publication/media-types.ts'
import type { Publication } from '../../publication/publication.ts'
import type { FeedContext } from '../feed.ts'
import { createManifest, type Manifest } from './manifest.ts'

export function epubManifest(
  book: Publication,
  contents: EpubContents,
  context: FeedContext,
): Manifest {
  const { resources, readingOrder, renditions, isFixedLayout, direction } = contents
  const ordered = new Set(readingOrder)
  const hrefOf = resourceLinks(book.id, context.links)
  const link = (resource: EpubResource) => resourceLink(resource, hrefOf(resource.name))
  const navigation = (list: readonly EpubLink[]) =>
    navigationLinks(list, index => hrefOf(resources[index]!.name))
  return createManifest(book, 'epub', context, {
    metadata: {
      layout: isFixedLayout ? 'fixed' : 'reflowable',
      // The catalog has the direction of the series, which would often be wrong for text.
      ...((direction !== null || !isFixedLayout) && { readingProgression: direction }),
    },
    readingOrder: readingOrder
      .values()
      .map((index, i) => withRendition(link(resources[index]!), renditions[i]!, isFixedLayout)),
    resources: resources
      .values()
      .filter((_, index) => !ordered.has(index))
      .map(link),
    toc: navigation(contents.toc),
    landmarks: navigation(contents.landmarks),
    pageList: navigation(contents.pageList),
  })
}

const containsByProperty = new Map([
  ['scripted', 'js'],
  ['mathml', 'mathml'],
  ['svg', 'svg'],
  ['remote-resources', 'remote-resources'],
])
const relByProperty = new Map([
  ['nav', 'contents'],
  ['cover-image', 'cover'],
])

function resourceLink(resource: EpubResource, href: string) {
  const { properties, bytes, encryption } = resource
  const contains = properties.flatMap(property => containsByProperty.get(property) ?? [])
  return {
    href,
    type: servedType(resource),
    rel: properties.flatMap(property => relByProperty.get(property) ?? [])[0],
    size: bytes > 0 ? bytes : null,
    properties: {
      contains: [...new Set(contains)],
      encrypted: encryption === null ? null : { algorithm: encryption },
    },
  }
}

/** Adds what differs from the layout of the book. */
function withRendition<L extends { properties: object }>(
  link: L,
  { isFixed, side, spread }: Rendition,
  isFixedLayout: boolean,
) {
  const layout = isFixed === isFixedLayout ? null : isFixed ? 'fixed' : 'reflowable'
  return { ...link, properties: { ...link.properties, layout, page: side, spread } }
}

/** `hrefOf` returns the URL of the resource with that index. */
function* navigationLinks(
  list: readonly EpubLink[],
  hrefOf: (index: number) => string,
): Generator<JsonItem> {
  for (const { title, resource, fragment, kind, children } of list) {
    const href = hrefOf(resource)
    yield {
      title,
      href: fragment === '' ? href : `${href}#${encodeURIComponent(fragment)}`,
      rel: kind,
      children: navigationLinks(children, hrefOf),
    }
  }
}
