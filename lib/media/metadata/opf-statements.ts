// Statements of OPF metadata: Dublin Core elements, `meta` elements and their refinements.
import { singleLine } from './text.ts'
import { childrenOf, textOf, type XmlElement } from './xml.ts'

/** The statements of a metadata element. Lists are in document order, names in lowercase. */
export type MetadataStatements = {
  /** Dublin Core elements with a local name. */
  dc(name: string): XmlElement[]
  /**
   * EPUB 3 refinement of an element: `<meta refines="#id" property="…">`, else its attribute with that name.
   */
  refined(element: XmlElement, property: string): string | undefined
  /** Like `refined`, where a property may be repeated, as `role` is. */
  refinedAll(element: XmlElement, property: string): string[]
  /** `<meta name content>` or an unrefined `<meta property>`. */
  meta(name: string): string | undefined
  /** Unrefined `<meta property>` elements. */
  properties(name: string): XmlElement[]
}

export function readStatements(element: XmlElement | undefined): MetadataStatements {
  // OEB 1.2 groups the elements in dc-metadata and x-metadata.
  const groups = childrenOf(element).filter(child => /^(?:dc|x)-metadata$/.test(child.name))
  const all = [element, ...groups].flatMap(group => childrenOf(group))
  const named = Map.groupBy(all, child => child.name)
  const metas = named.get('meta') ?? []
  const property = ({ attributes }: XmlElement) => attributes.get('property')?.trim().toLowerCase()
  const subject = ({ attributes }: XmlElement) =>
    attributes.get('refines')?.trim().replace(/^#/, '')
  // Keyed by both, so that many refinements of one element cost no more than many elements.
  const stated = Map.groupBy(metas, meta => `${subject(meta) ?? ''} ${property(meta)}`)
  const byName = new Map<string, string>()
  for (const meta of metas.toReversed()) {
    const name = meta.attributes.get('name')?.trim().toLowerCase()
    const content = singleLine(meta.attributes.get('content') ?? textOf(meta))
    if (name && content !== undefined) byName.set(name, content)
  }
  const refinedAll = (target: XmlElement, name: string) => {
    const id = target.attributes.get('id')?.trim()
    const refining = id ? (stated.get(`${id} ${name}`) ?? []).slice(0, 50) : []
    return [...refining.map(textOf), target.attributes.get(name)].flatMap(
      text => singleLine(text) ?? [],
    )
  }
  return {
    dc: name => (named.get(name) ?? []).slice(0, 1000),
    refinedAll,
    refined: (target, name) => refinedAll(target, name)[0],
    meta: name => byName.get(name) ?? singleLine(textOf(stated.get(` ${name}`)?.[0])),
    properties: name => (stated.get(` ${name}`) ?? []).slice(0, 1000),
  }
}
