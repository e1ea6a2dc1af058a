// Parser for META-INF/encryption.xml: DRM-encrypted and obfuscated entries of an EPUB.
//
//   encryption    = { EncryptedData }
//   EncryptedData = EncryptionMethod @Algorithm, CipherData( CipherReference @URI )
import type { Entry } from '../../archive/container.ts'
import { childOf, descendantsOf, parseXml } from '../../metadata/xml.ts'
import type { EpubArchive } from './archive.ts'

export const idpfAlgorithm = 'http://www.idpf.org/2008/embedding'
export const adobeAlgorithm = 'http://ns.adobe.com/pdf/enc#RC'
const obfuscations = [idpfAlgorithm, adobeAlgorithm]
const unknown = 'urn:unknown'

/** Encrypted and obfuscated entries, with the URI of the algorithm. */
export type Encryption = {
  /** DRM: cannot be decrypted without a license. */
  encrypted: Map<Entry, string>
  /** Font obfuscation: the key is derived from the book's identifier. */
  obfuscated: Map<Entry, string>
  warnings: string[]
}

/** Throws only Unreadable `io`. */
export async function readEncryption(archive: EpubArchive): Promise<Encryption> {
  const encrypted = new Map<Entry, string>()
  const obfuscated = new Map<Entry, string>()
  const bytes = await archive.readDocument(archive.find('META-INF/encryption.xml'))
  const root = bytes === null ? null : parseXml(bytes).root
  for (const element of root === null ? [] : descendantsOf(root)) {
    if (element.name !== 'encrypteddata') continue
    const algorithm = childOf(element, 'encryptionmethod')?.attributes.get('algorithm')?.trim()
    const isObfuscation = algorithm !== undefined && obfuscations.includes(algorithm)
    const reference = childOf(childOf(element, 'cipherdata'), 'cipherreference')
    const entry = archive.resolve('', reference?.attributes.get('uri') ?? '')
    if (entry === null) continue
    if (isObfuscation) obfuscated.set(entry, algorithm)
    else encrypted.set(entry, algorithm && URL.canParse(algorithm) ? algorithm : unknown)
  }
  if (encrypted.size > 0) {
    const warnings = [`the book is DRM-protected: ${encrypted.size} encrypted files`]
    return { encrypted, obfuscated, warnings }
  }
  // Adobe ADEPT, Readium LCP, Apple FairPlay.
  const rights = ['META-INF/rights.xml', 'META-INF/license.lcpl', 'META-INF/sinf.xml']
  const isProtected = rights.some(path => archive.find(path) !== null)
  return {
    encrypted,
    obfuscated,
    warnings: isProtected ? ['the book contains a DRM license'] : [],
  }
}
