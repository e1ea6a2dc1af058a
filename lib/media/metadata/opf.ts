// Parser for OPF package documents: OEB 1.2, EPUB 2 and 3, and Calibre's metadata.opf sidecar.
//
//   package  = metadata manifest spine [guide]        any prefix, any order, parts may be missing
//   metadata = { dc:* | meta } | dc-metadata{ dc:* } [x-metadata{ meta }]
//   meta     = @name @content (2) | @property text [@refines "#id"] (3)
//   manifest = { item @id @href @media-type [@properties] }
//   spine    = [@page-progression-direction] { itemref @idref [@properties] }
//   guide    = { reference @type @href }
import type { Metadata, SourceReading } from './metadata.ts'
import { readOpfMetadata } from './opf-metadata.ts'
import { childOf, childrenOf, descendantsOf, parseXml, type XmlElement } from './xml.ts'

/** A manifest item. `href` is as written: relative to the package document and percent-encoded. */
export type OpfItem = { id: string; href: string; mediaType: string; properties: string[] }

export type Opf = {
  /** The document contains no element. */
  isEmpty: boolean
  metadata: Metadata
  warnings: string[]
  manifest: OpfItem[]
  /** Manifest ids in reading order. */
  spine: { id: string; properties: string[] }[]
  /** `type` in lowercase, `href` as in the manifest. */
  guide: { type: string; href: string }[]
  /** The content of `rendition:spread`; null when absent. */
  spread: string | null
  /** Content of `<meta name="cover">`: a manifest id by convention, an href in some books; null when absent. */
  cover: string | null
}

/** Never throws: missing or unreadable parts are empty, with a warning. */
export function parseOpf(bytes: Uint8Array): Opf {
  const { root, warnings } = parseXml(bytes)
  const part = (name: string) => (root === null ? undefined : partOf(root, name))
  const spine = part('spine')
  const { metadata, cover, spread } = readOpfMetadata(part('metadata'), spine, warnings)
  if (root === null) warnings.push('the package document is empty')
  return {
    isEmpty: root === null,
    metadata,
    warnings,
    manifest: childrenOf(part('manifest'), 'item').map(itemOf),
    spine: childrenOf(spine, 'itemref').map(({ attributes }) => ({
      id: attributes.get('idref')?.trim() ?? '',
      properties: attributes.get('properties')?.trim().split(/\s+/) ?? [],
    })),
    guide: childrenOf(part('guide'), 'reference').map(({ attributes }) => ({
      type: attributes.get('type')?.trim().toLowerCase() ?? '',
      href: attributes.get('href')?.trim() ?? '',
    })),
    spread,
    cover,
  }
}

/** Parses the sidecar `metadata.opf`. */
export function parseOpfSidecar(bytes: Uint8Array): SourceReading {
  const { metadata, warnings } = parseOpf(bytes)
  // The layout is a property of the book file, not of the sidecar.
  const { layout: _, ...rest } = metadata
  return { source: 'opf', metadata: rest, warnings }
}

/**
 * A child of the package element, else any descendant: some documents lack the package element or close it
 * early.
 */
function partOf(root: XmlElement, name: string): XmlElement | undefined {
  if (root.name === name) return root
  const direct = childOf(root, name)
  if (direct !== undefined) return direct
  for (const element of descendantsOf(root)) if (element.name === name) return element
  return undefined
}

function itemOf({ attributes }: XmlElement): OpfItem {
  return {
    id: attributes.get('id')?.trim() ?? '',
    href: attributes.get('href')?.trim() ?? '',
    mediaType: attributes.get('media-type')?.trim().toLowerCase() ?? '',
    properties: attributes.get('properties')?.split(/\s+/) ?? [],
  }
}
