// What META-INF says about encryption: DRM makes content unreadable, font obfuscation does not matter here.
//
//   encryption    = { EncryptedData }
//   EncryptedData = EncryptionMethod @Algorithm, CipherData( CipherReference @URI )
import { childOf, descendantsOf, parseXml } from '../metadata/xml.ts'
import type { Entry } from './container.ts'
import type { EpubArchive } from './epub-archive.ts'

const obfuscations = ['http://www.idpf.org/2008/embedding', 'http://ns.adobe.com/pdf/enc#RC']

/** Entries that only a licence opens, and warnings that say so. Never throws but Unreadable `io`. */
export async function readProtection(
  archive: EpubArchive,
): Promise<{ encrypted: Set<Entry>; warnings: string[] }> {
  const encrypted = new Set<Entry>()
  const bytes = await archive.document(archive.find('META-INF/encryption.xml'))
  const root = bytes === null ? null : parseXml(bytes).root
  for (const element of root === null ? [] : descendantsOf(root)) {
    if (element.name !== 'encrypteddata') continue
    const algorithm = childOf(element, 'encryptionmethod')?.attributes.get('algorithm')?.trim()
    if (algorithm !== undefined && obfuscations.includes(algorithm)) continue
    const reference = childOf(childOf(element, 'cipherdata'), 'cipherreference')
    const entry = archive.resolve('', reference?.attributes.get('uri') ?? '')
    if (entry !== null) encrypted.add(entry)
  }
  if (encrypted.size > 0) {
    return { encrypted, warnings: [`the book is protected, ${encrypted.size} files are encrypted`] }
  }
  // Adobe ADEPT, Readium LCP and Apple FairPlay, in this order.
  const rights = ['META-INF/rights.xml', 'META-INF/license.lcpl', 'META-INF/sinf.xml']
  const isProtected = rights.some(path => archive.find(path) !== null)
  return {
    encrypted,
    warnings: isProtected ? ['the book carries a licence for protected content'] : [],
  }
}
