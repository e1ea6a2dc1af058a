// EPUB package: located by META-INF/container.xml, its manifest resolved to archive entries.
//
//   container = rootfiles { rootfile @full-path @media-type }      the first package is used
import { Unreadable } from '../../../base/errors.ts'
import type { Entry } from '../../archive/container.ts'
import { type Opf, type OpfItem, parseOpf } from '../../metadata/opf.ts'
import { descendantsOf, parseXml } from '../../metadata/xml.ts'
import type { EpubArchive } from './archive.ts'

/** A manifest item that exists in the archive, except container metadata. */
export type Resource = OpfItem & { entry: Entry }

export type EpubPackage = Omit<Opf, 'manifest' | 'spine'> & {
  /** Name of the package document's entry; hrefs are relative to it. */
  path: string
  resources: Resource[]
  byId: Map<string, Resource>
  /** Items of the spine, repeated ones included. */
  spine: Resource[]
  /**
   * The spine with each document once. Includes non-linear items: they count as pages, and an app that skips
   * them just never reaches them.
   */
  readingOrder: Resource[]
  /** How spine items are displayed, according to the item or the package. */
  renditions: Map<Resource, Rendition>
  /** Warnings about the archive. */
  warnings: string[]
  metadataWarnings: string[]
}

/** How a document is displayed; null if the book does not specify it. */
export type Rendition = {
  isFixed: boolean
  /** Side of a two-page spread. */
  side: PageSide | null
  /** When it is part of a two-page spread. */
  spread: Spread | null
}
type PageSide = 'left' | 'right' | 'center'
type Spread = 'none' | 'landscape' | 'both' | 'auto'

/**
 * Throws Unreadable: `unsupported_format` without a package document, the damage of the archive, and errors
 * reading it.
 */
export async function readPackage(archive: EpubArchive): Promise<EpubPackage> {
  const warnings: string[] = []
  let failure: unknown = null
  for (const entry of await packageEntries(archive, warnings)) {
    try {
      const bytes = await archive.container.read(entry, archive.limits.metadataBytes)
      const opf = parseOpf(bytes)
      if (!opf.isEmpty) return resolveManifest(archive, entry, { opf, warnings })
    } catch (cause) {
      failure ??= cause
    }
  }
  throw (
    failure ??
    archive.container.damage ??
    new Unreadable('The EPUB has no package document', 'unsupported_format')
  )
}

async function packageEntries(archive: EpubArchive, warnings: string[]): Promise<Entry[]> {
  const bytes = await archive.readDocument(archive.find('META-INF/container.xml'))
  const root = bytes === null ? null : parseXml(bytes).root
  const declared: Entry[] = []
  for (const element of root === null ? [] : descendantsOf(root)) {
    const path = element.name === 'rootfile' ? element.attributes.get('full-path') : undefined
    const entry = path && (archive.find(path.trim()) ?? archive.resolve('', path))
    if (entry && declared.length < 16) declared.push(entry)
  }
  if (declared.length > 0) return declared
  warnings.push('container.xml names no package document; the archive was searched')
  const depth = (entry: Entry) => entry.name.split('/').length
  const candidates = archive.container.entries.filter(entry => /\.opf$/i.test(entry.name))
  return candidates.sort((a, b) => depth(a) - depth(b)).slice(0, 16)
}

function resolveManifest(
  archive: EpubArchive,
  entry: Entry,
  { opf, warnings }: { opf: Opf; warnings: string[] },
): EpubPackage {
  const resources: Resource[] = []
  const byId = new Map<string, Resource>()
  let missing = 0
  for (const item of opf.manifest) {
    const target = archive.resolve(entry.name, item.href)
    if (target === null) missing++
    if (target === null || isArchiveMetadata(target)) continue
    const resource = { ...item, entry: target }
    resources.push(resource)
    if (item.id !== '' && !byId.has(item.id)) byId.set(item.id, resource)
  }
  if (missing > 0) warnings.push(`${missing} resources of the package are not in the archive`)
  const spine = opf.spine.flatMap(({ id }) => byId.get(id) ?? [])
  return {
    ...opf,
    path: entry.name,
    resources,
    byId,
    spine,
    readingOrder: [...byEntry(spine).values()],
    renditions: renditionsOf(opf, byId),
    warnings,
    metadataWarnings: opf.warnings,
  }
}

/** Deduplicates resources by entry. */
export function byEntry(resources: readonly Resource[]): Map<Entry, Resource> {
  const first = new Map<Entry, Resource>()
  for (const resource of resources)
    if (!first.has(resource.entry)) first.set(resource.entry, resource)
  return first
}

// Container metadata is not content.
const isArchiveMetadata = ({ name }: Entry) => /^(?:mimetype$|meta-inf\/)/i.test(name)

// EPUB 3.3 §8.2 allows both spellings for left and right.
const pageSpread = /^(?:rendition:)?page-spread-(left|right|center)$/
const spreadProperty = /^rendition:spread-(none|landscape|portrait|both|auto)$/
const layoutProperty = /^rendition:layout-(pre-paginated|reflowable)$/

function renditionsOf(
  { spine, spread, metadata }: Opf,
  byId: Map<string, Resource>,
): Map<Resource, Rendition> {
  const renditions = new Map<Resource, Rendition>()
  for (const { id, properties } of spine) {
    const item = byId.get(id)
    if (!item || renditions.has(item)) continue
    const value = (pattern: RegExp) =>
      properties.flatMap(property => pattern.exec(property)?.[1] ?? [])[0]
    renditions.set(item, {
      isFixed: (value(layoutProperty) ?? metadata.layout) === 'pre-paginated',
      side: (value(pageSpread) as PageSide | undefined) ?? null,
      spread: spreadOf(value(spreadProperty) ?? spread),
    })
  }
  return renditions
}

function spreadOf(value: string | null): Spread | null {
  // Deprecated: `portrait` means always.
  if (value === 'portrait') return 'both'
  return (['none', 'landscape', 'both', 'auto'] as const).find(known => known === value) ?? null
}
