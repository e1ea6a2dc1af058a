// Reads one EPUB resource and removes font obfuscation, with a key derived from the identifier of the book.
//
//   IDPF  = the first 1040 bytes xor SHA-1 of the unique identifier without white space (EPUB 3.3, 4.4)
//   Adobe = the first 1024 bytes xor the 16 bytes of the identifier that is a UUID
import { hash } from 'node:crypto'
import { scoped } from '../../../base/async/dispose.ts'
import type { File } from '../../../base/file.ts'
import type { Limits } from '../../archive/limits.ts'
import { openZip } from '../../archive/zip/zip.ts'
import { descendantsOf, parseXml, textOf } from '../../metadata/xml.ts'
import { createEpubArchive } from './archive.ts'
import { idpfAlgorithm, readEncryption } from './encryption.ts'
import { readPackage } from './package.ts'

/**
 * The bytes of the named entry; DRM-encrypted data is returned as is. Null if it does not exist. Throws
 * Unreadable.
 */
export function readResource(file: File, limits: Limits, name: string): Promise<Uint8Array | null> {
  return scoped(async use => {
    const container = use(await openZip(file, limits))
    const archive = createEpubArchive(container, limits)
    const entry = container.entries.find(candidate => candidate.name === name)
    if (entry === undefined) return null
    const { obfuscated } = await readEncryption(archive)
    const bytes = await container.read(entry, limits.entryBytes)
    const algorithm = obfuscated.get(entry)
    if (algorithm === undefined) return bytes
    const { path } = await readPackage(archive)
    const opf = await archive.readDocument(archive.find(path))
    return opf === null ? bytes : deobfuscate(bytes, algorithm, opf)
  })
}

/** Deobfuscates in place. `opf` is the package document; if it contains no key, the bytes stay unchanged. */
export function deobfuscate(bytes: Uint8Array, algorithm: string, opf: Uint8Array): Uint8Array {
  const key = algorithm === idpfAlgorithm ? idpfKey(opf) : adobeKey(opf)
  if (key === null) return bytes
  const end = Math.min(bytes.length, algorithm === idpfAlgorithm ? 1040 : 1024)
  for (let i = 0; i < end; i++) bytes[i]! ^= key[i % key.length]!
  return bytes
}

function idpfKey(opf: Uint8Array): Uint8Array | null {
  const [unique] = identifiersOf(opf)
  const identifier = unique?.replace(/[ \t\r\n]/g, '')
  return identifier ? hash('sha1', identifier, 'buffer') : null
}

function adobeKey(opf: Uint8Array): Uint8Array | null {
  const isUuid = /^\s*(?:urn:uuid:)?([\da-f]{8}-?(?:[\da-f]{4}-?){3}[\da-f]{12})\s*$/i
  for (const identifier of identifiersOf(opf)) {
    const hex = isUuid.exec(identifier)?.[1]
    if (hex) return Buffer.from(hex.replaceAll('-', ''), 'hex')
  }
  return null
}

/** All identifiers, starting with the package's unique identifier. */
function identifiersOf(opf: Uint8Array): string[] {
  const { root } = parseXml(opf)
  if (root === null) return []
  const elements = [root, ...descendantsOf(root)]
  const unique = elements
    .find(({ name }) => name === 'package')
    ?.attributes.get('unique-identifier')
  const all = elements.filter(({ name }) => name === 'identifier')
  const isUnique = (id: string | undefined) => id !== undefined && id.trim() === unique?.trim()
  const own = all.filter(({ attributes }) => isUnique(attributes.get('id')))
  return [...own, ...all.filter(element => !own.includes(element))].map(textOf)
}
