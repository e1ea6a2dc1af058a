// Fonts of an EPUB that are hidden by a key of the book's own identifier, which is no protection: whoever
// has the book has the key.
//
//   IDPF  = the first 1040 bytes xor SHA-1 of the unique identifier without white space (EPUB 3.3, 4.4)
//   Adobe = the first 1024 bytes xor the 16 bytes of the identifier that is a UUID
import { hash } from 'node:crypto'
import { descendantsOf, parseXml, textOf } from '../../metadata/xml.ts'

export const idpf = 'http://www.idpf.org/2008/embedding'
export const adobe = 'http://ns.adobe.com/pdf/enc#RC'

/** The bytes in the clear, in place. `opf` is the package document. As they are when it has no key. */
export function unhide(bytes: Uint8Array, algorithm: string, opf: Uint8Array): Uint8Array {
  const key = algorithm === idpf ? idpfKey(opf) : adobeKey(opf)
  if (key === null) return bytes
  const end = Math.min(bytes.length, algorithm === idpf ? 1040 : 1024)
  for (let i = 0; i < end; i++) bytes[i]! ^= key[i % key.length]!
  return bytes
}

function idpfKey(opf: Uint8Array): Uint8Array | null {
  const [unique] = identifiersOf(opf)
  const said = unique?.replace(/[ \t\r\n]/g, '')
  return said ? hash('sha1', said, 'buffer') : null
}

function adobeKey(opf: Uint8Array): Uint8Array | null {
  const isUuid = /^\s*(?:urn:uuid:)?([\da-f]{8}-?(?:[\da-f]{4}-?){3}[\da-f]{12})\s*$/i
  for (const identifier of identifiersOf(opf)) {
    const hex = isUuid.exec(identifier)?.[1]
    if (hex) return Buffer.from(hex.replaceAll('-', ''), 'hex')
  }
  return null
}

/** The one that the package calls unique first. */
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
