// What META-INF says about encryption: DRM makes content unreadable, font obfuscation does not matter here.
//
//   encryption    = { EncryptedData }
//   EncryptedData = EncryptionMethod @Algorithm, CipherData( CipherReference @URI )

import type { Entry } from '../../archive/container.ts'
import { childOf, descendantsOf, parseXml } from '../../metadata/xml.ts'
import type { EpubArchive } from './archive.ts'
import { adobe, idpf } from './obfuscation.ts'

const obfuscations = [idpf, adobe]
const unknown = 'urn:unknown'

/** Entries and the algorithms by which they are changed. */
export type Protection = {
  /** Only a licence opens these. */
  encrypted: Map<Entry, string>
  /** Whoever has the book can read these. */
  obfuscated: Map<Entry, string>
  warnings: string[]
}

/** What of the archive is changed, and warnings that say so. Never throws but Unreadable `io`. */
export async function readProtection(archive: EpubArchive): Promise<Protection> {
  const encrypted = new Map<Entry, string>()
  const obfuscated = new Map<Entry, string>()
  const bytes = await archive.document(archive.find('META-INF/encryption.xml'))
  const root = bytes === null ? null : parseXml(bytes).root
  for (const element of root === null ? [] : descendantsOf(root)) {
    if (element.name !== 'encrypteddata') continue
    const algorithm = childOf(element, 'encryptionmethod')?.attributes.get('algorithm')?.trim()
    const isOpen = algorithm !== undefined && obfuscations.includes(algorithm)
    const reference = childOf(childOf(element, 'cipherdata'), 'cipherreference')
    const entry = archive.resolve('', reference?.attributes.get('uri') ?? '')
    if (entry === null) continue
    if (isOpen) obfuscated.set(entry, algorithm)
    else encrypted.set(entry, algorithm && URL.canParse(algorithm) ? algorithm : unknown)
  }
  if (encrypted.size > 0) {
    const warnings = [`the book is protected, ${encrypted.size} files are encrypted`]
    return { encrypted, obfuscated, warnings }
  }
  // Adobe ADEPT, Readium LCP and Apple FairPlay, in this order.
  const rights = ['META-INF/rights.xml', 'META-INF/license.lcpl', 'META-INF/sinf.xml']
  const isProtected = rights.some(path => archive.find(path) !== null)
  return {
    encrypted,
    obfuscated,
    warnings: isProtected ? ['the book carries a licence for protected content'] : [],
  }
}
