// Font obfuscation of EPUB, reversed with a key derived from the identifier of the book.
//
//   IDPF  = the first 1040 bytes xor SHA-1 of the unique identifier without white space (EPUB 3.3, 4.4)
//   Adobe = the first 1024 bytes xor the 16 bytes of the identifier that is a UUID
import { hash } from 'node:crypto'
import { descendantsOf, parseXml, textOf } from '../../metadata/xml.ts'

export const idpfAlgorithm = 'http://www.idpf.org/2008/embedding'
export const adobeAlgorithm = 'http://ns.adobe.com/pdf/enc#RC'

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
