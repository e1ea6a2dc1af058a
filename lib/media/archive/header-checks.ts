// Checksums in archive headers: detect changed content without reading it.
import { hash } from 'node:crypto'
import type { ArchiveFormat, Container } from './container.ts'

/**
 * Hex digest of the names, sizes and checksums of all files; null when a checksum is missing or headers are
 * damaged.
 */
export function headerChecks(
  archive: ArchiveFormat,
  { entries, damage }: Container,
): string | null {
  if (damage !== null || entries.length === 0) return null
  const lines: string[] = []
  for (const entry of entries) {
    const checksum = archive.checksum(entry)
    if (checksum === null) return null
    lines.push(`${entry.name}\0${entry.sizeBytes} ${entry.packedBytes} ${checksum}`)
  }
  return hash('md5', lines.join('\n'))
}
