// Kinds of links in OPDS documents, which decide how a client follows them.
import { type Document, type Link, rels } from './document.ts'

export type LinkKind = 'document' | 'image' | 'file' | 'stream' | 'resource'

export type FollowedLink = {
  kind: LinkKind
  /** Absolute; of a page stream its template. */
  url: string
  /** URL of the document that contains the link; null for the roots of a crawl. */
  from: string | null
  link: Link | null
  version: 1 | 2
  /** Number of facets selected on the way here. */
  facets: number
}

/** All links of a document; a search template gives one link per term. */
export function followedLinks(
  document: Document,
  { url: from, facets: parentFacets }: Pick<FollowedLink, 'url' | 'facets'>,
  searchTerms: readonly string[],
): FollowedLink[] {
  const links = [...document.links, ...document.items.flatMap(item => item.links)]
  return links.flatMap(link => {
    const kind = kindOfLink(link, document)
    const facets = parentFacets + (link.rels.includes(rels.facet) ? 1 : 0)
    const common = { kind, from, link, version: document.version, facets }
    const urls = kind === 'stream' ? [link.href] : expandTemplate(link, searchTerms)
    return urls.map(url => ({ ...common, url }))
  })
}

const documentTypes =
  /^application\/(?:atom\+xml|opensearchdescription\+xml|opds[\w-]*\+json|divina\+json|webpub\+json|vnd\.readium\.[\w-]+\+json)$/

function kindOfLink(link: Link, { shape }: Document): LinkKind {
  if (link.rels.includes(rels.stream)) return 'stream'
  if (link.rels.some(rel => rel.startsWith(rels.acquisition))) return 'file'
  if (link.rels.some(rel => rel.startsWith(rels.image))) return 'image'
  if (documentTypes.test(essence(link.type))) return 'document'
  return shape === 'manifest' && essence(link.type) === 'application/pdf' ? 'file' : 'resource'
}

/** The media type without parameters. */
export const essence = (type: string | null): string =>
  (type ?? '').split(';')[0]!.trim().toLowerCase()

/** The `kind` parameter of a feed's media type: `navigation`, `acquisition` or `undefined`. */
export const feedKind = (type: string): string | undefined => /kind=(\w+)/.exec(type)?.[1]

const withoutFragment = (href: string) => href.split('#')[0]!

function expandTemplate({ href, isTemplate }: Link, searchTerms: readonly string[]): string[] {
  if (!isTemplate) return [withoutFragment(href)]
  return searchTerms.map(term =>
    href
      .replace('{searchTerms}', encodeURIComponent(term))
      .replace('{?query}', `?query=${encodeURIComponent(term)}`),
  )
}
