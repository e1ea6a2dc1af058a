// Corrects ZIP entry offsets when bytes precede the archive, are missing or were inserted.
import type { File } from '../../../base/file.ts'
import type { ZipEntry } from './entry.ts'
import { type Recovery, readLocalEntry } from './recover.ts'

/** Whether all entries moved with the directory, as after a prefix. Changes offsets in place. */
export function relocateEntries(
  file: File,
  entries: readonly ZipEntry[],
  { shift, recovery }: { shift: number; recovery: () => Recovery },
): boolean {
  // A prefix shifts the entries too; a wrong offset in the end record affects only the directory.
  const deltas = [shift, 0]
  let isPrefix = true
  for (const entry of entries) {
    const delta = deltas.find(delta => isAt(file, entry, entry.offset + delta))
    isPrefix &&= delta === shift
    if (delta !== undefined) entry.offset += delta
    else entry.offset = findOffset(recovery(), entry, shift) ?? entry.offset + shift
  }
  return isPrefix
}

function isAt(file: File, entry: ZipEntry, offset: number): boolean {
  const local = readLocalEntry(file, offset, 0)
  return local !== null && isSame(local, entry)
}

// Names may differ in encoding, and checksums may be left to the descriptor.
const isSame = (local: ZipEntry, entry: ZipEntry) =>
  local.storedName === entry.storedName || (local.crc === entry.crc && local.crc !== 0)

/** Where an entry's local header was found: the one nearest to the stated offset, at most `shift` away. */
export function findOffset(recovery: Recovery, entry: ZipEntry, shift = 0): number | null {
  let nearest: number | null = null
  const distance = (offset: number) => Math.abs(offset - entry.offset - shift / 2)
  for (const local of byName(recovery).get(entry.storedName) ?? [])
    if (nearest === null || distance(local.offset) < distance(nearest)) nearest = local.offset
  return nearest
}

const indexes = new WeakMap<Recovery, Map<string, ZipEntry[]>>()

function byName(recovery: Recovery): Map<string, ZipEntry[]> {
  const known = indexes.get(recovery)
  if (known !== undefined) return known
  const index = Map.groupBy(recovery.entries, entry => entry.storedName)
  indexes.set(recovery, index)
  return index
}
