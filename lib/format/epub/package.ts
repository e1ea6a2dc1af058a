// From META-INF/container.xml to the package document and what of it is present in the archive.
//
//   container = rootfiles { rootfile @full-path @media-type }      the first package counts

import type { Entry } from '../../archive/container.ts'
import { Unreadable } from '../../errors.ts'
import { type Opf, type OpfItem, parseOpf } from '../../metadata/opf.ts'
import { descendantsOf, parseXml } from '../../metadata/xml.ts'
import type { EpubArchive } from './archive.ts'

/** A manifest item that is in the archive. */
export type Resource = OpfItem & { entry: Entry }

export type EpubPackage = Omit<Opf, 'manifest' | 'spine'> & {
  /** Name of the package document's entry; hrefs are relative to it. */
  path: string
  resources: Resource[]
  byId: Map<string, Resource>
  /** Spine items in reading order, repeated and non-linear ones included. */
  spine: Resource[]
  /** Of these those that are read one after another. */
  linear: Resource[]
  /** About the archive; `said` holds those about the metadata. */
  warnings: string[]
  said: string[]
}

/** Throws Unreadable `unsupported_format` when there is no package document, else what reading it throws. */
export async function readPackage(archive: EpubArchive): Promise<EpubPackage> {
  const warnings: string[] = []
  let failure: unknown = null
  for (const entry of await packageEntries(archive, warnings)) {
    try {
      const bytes = await archive.container.read(entry, archive.limits.metadataBytes)
      const opf = parseOpf(bytes)
      if (!opf.isEmpty) return present(archive, entry, { opf, warnings })
    } catch (cause) {
      failure ??= cause
    }
  }
  throw failure ?? new Unreadable('The EPUB has no package document', 'unsupported_format')
}

async function packageEntries(archive: EpubArchive, warnings: string[]): Promise<Entry[]> {
  const bytes = await archive.document(archive.find('META-INF/container.xml'))
  const root = bytes === null ? null : parseXml(bytes).root
  const declared: Entry[] = []
  for (const element of root === null ? [] : descendantsOf(root)) {
    const path = element.name === 'rootfile' ? element.attributes.get('full-path') : undefined
    const entry = path && (archive.find(path.trim()) ?? archive.resolve('', path))
    if (entry && declared.length < 16) declared.push(entry)
  }
  if (declared.length > 0) return declared
  warnings.push('container.xml names no package document, looked for one')
  const depth = (entry: Entry) => entry.name.split('/').length
  const found = archive.container.entries.filter(entry => /\.opf$/i.test(entry.name))
  return found.sort((a, b) => depth(a) - depth(b)).slice(0, 16)
}

function present(
  archive: EpubArchive,
  entry: Entry,
  { opf, warnings }: { opf: Opf; warnings: string[] },
): EpubPackage {
  const resources: Resource[] = []
  const byId = new Map<string, Resource>()
  for (const item of opf.manifest) {
    const found = archive.resolve(entry.name, item.href)
    if (found === null) continue
    const resource = { ...item, entry: found }
    resources.push(resource)
    if (item.id !== '' && !byId.has(item.id)) byId.set(item.id, resource)
  }
  const missing = opf.manifest.length - resources.length
  if (missing > 0) warnings.push(`${missing} resources of the package are not in the archive`)
  const itemsOf = (refs: Opf['spine']) => refs.flatMap(({ id }) => byId.get(id) ?? [])
  const spine = itemsOf(opf.spine)
  const linear = itemsOf(opf.spine.filter(ref => ref.linear))
  return { ...opf, path: entry.name, resources, byId, spine, linear, warnings, said: opf.warnings }
}
