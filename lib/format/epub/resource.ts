// One resource of an EPUB that cannot be sent as it lies in the archive.

import { openZip } from '../../archive/zip/zip.ts'
import type { File } from '../../file.ts'
import type { Limits } from '../contract.ts'
import { epubArchive } from './archive.ts'
import { unhide } from './obfuscation.ts'
import { readPackage } from './package.ts'
import { readProtection } from './protection.ts'

/** The bytes of the entry of that name, in the clear but for what only a licence opens; null when there is none. Throws Unreadable. */
export async function readMember(
  file: File,
  limits: Limits,
  name: string,
): Promise<Uint8Array | null> {
  await using container = await openZip(file, limits)
  const archive = epubArchive(container, limits)
  const entry = container.entries.find(one => one.name === name)
  if (entry === undefined) return null
  const { obfuscated } = await readProtection(archive)
  const bytes = await container.read(entry, limits.entryBytes)
  const algorithm = obfuscated.get(entry)
  if (algorithm === undefined) return bytes
  const { path } = await readPackage(archive)
  const opf = await archive.document(archive.find(path))
  return opf === null ? bytes : unhide(bytes, algorithm, opf)
}
