// Reads one EPUB resource and removes font obfuscation.

import { scoped } from '../../../base/async/dispose.ts'
import type { File } from '../../../base/file.ts'
import type { Limits } from '../../archive/limits.ts'
import { openZip } from '../../archive/zip/zip.ts'
import { createEpubArchive } from './archive.ts'
import { readEncryption } from './encryption.ts'
import { deobfuscate } from './font-obfuscation.ts'
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
