// What a link is for, and so how a client follows it.
import { type Document, type Link, rels } from './document.ts'

export type What = 'document' | 'image' | 'file' | 'stream' | 'resource'

export type Errand = {
  what: What
  /** Absolute; of a stream its template. */
  url: string
  /** The document that the link stands in; null for where a crawl begins. */
  from: string | null
  link: Link | null
  version: 1 | 2
  /** Facets that were chosen on the way. */
  facets: number
}

/** Where a document leads: one errand a link, more for a search. */
export function errandsOf(
  document: Document,
  at: Pick<Errand, 'url' | 'facets'>,
  terms: readonly string[],
): Errand[] {
  const links = [...document.links, ...document.items.flatMap(item => item.links)]
  return links.flatMap(link => {
    const what = whatFor(link, document)
    const facets = at.facets + (link.rels.includes(rels.facet) ? 1 : 0)
    const errand = { what, from: at.url, link, version: document.version, facets }
    const urls = what === 'stream' ? [link.href] : filled(link, terms)
    return urls.map(url => ({ ...errand, url }))
  })
}

const documents =
  /^application\/(?:atom\+xml|opensearchdescription\+xml|opds[\w-]*\+json|divina\+json|webpub\+json|vnd\.readium\.[\w-]+\+json)$/

function whatFor({ rels: said, type }: Link, { shape }: Document): What {
  if (said.includes(rels.stream)) return 'stream'
  if (said.some(rel => rel.startsWith(rels.acquisition))) return 'file'
  if (said.some(rel => rel.startsWith(rels.image))) return 'image'
  if (documents.test(essence(type))) return 'document'
  return shape === 'manifest' && essence(type) === 'application/pdf' ? 'file' : 'resource'
}

/** The media type alone. */
export const essence = (type: string | null): string =>
  (type ?? '').split(';')[0]!.trim().toLowerCase()

/** `navigation`, `acquisition` or `undefined`. */
export const kindOf = (type: string): string | undefined => /kind=(\w+)/.exec(type)?.[1]

/** Without its fragment. */
const plain = (href: string) => href.split('#')[0]!

function filled({ href, isTemplate }: Link, terms: readonly string[]): string[] {
  if (!isTemplate) return [plain(href)]
  return terms.map(term =>
    href
      .replace('{searchTerms}', encodeURIComponent(term))
      .replace('{?query}', `?query=${encodeURIComponent(term)}`),
  )
}
