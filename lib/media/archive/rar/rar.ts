// RAR archive reader (1.5 to 7): walks the headers, reads stored files in place, and decompresses only the
// entries that the requested one depends on.
import { crc32 } from 'node:zlib'
import { Unreadable } from '../../../base/errors.ts'
import type { File } from '../../../base/file.ts'
import type { ArchiveFormat, Container, Entry, EntryLocation } from '../container.ts'
import { createSolidStream, type SolidStream } from '../libarchive.ts'
import type { Limits } from '../limits.ts'
import type { Listing, RarEntry } from './blocks.ts'
import { listRar4 } from './rar4.ts'
import { listRar5 } from './rar5.ts'
import { openSolidGroup, readHeadAlone, type SolidGroup, signature5 } from './solid-group.ts'

type GroupPosition = { group: SolidGroup; index: number }

const signature4 = Buffer.from('526172211a0700', 'hex')

/** Whether a file starts like a RAR. */
export const isRar = (head: Uint8Array) => signature4.equals(head.subarray(0, 7)) || isRar5(head)

const isRar5 = (head: Uint8Array) => signature5.equals(head.subarray(0, 8))

export const rarArchive: ArchiveFormat = {
  open: openRar,
  locate,
  checksum: entry => (entry as RarEntry).crc,
}

/**
 * Opens a RAR, even if self-extracting or damaged. Throws Unreadable: `encrypted`, `multi_volume`,
 * `truncated`, `bad_crc`, `too_large`, `not_an_archive`.
 */
export async function openRar(file: File, limits: Limits): Promise<Container> {
  const { entries, damage } = await listEntries(file, limits)
  if (entries.length === 0 && damage !== null) throw damage
  if (entries.length > limits.entries)
    throw new Unreadable('The archive contains too many files', 'too_large')
  if (entries.length > 0 && entries.every(entry => entry.isEncrypted))
    throw new Unreadable('The archive is encrypted', 'encrypted')
  const take = createEntryReader(file, groupPositions(entries), limits)
  return {
    entries,
    warnings: damage === null ? [] : [damage.message],
    damage,
    async read(entry, maxBytes) {
      const { sizeBytes, crc } = entry as RarEntry
      if (sizeBytes > maxBytes)
        throw new Unreadable('The file in the archive is too large', 'too_large')
      const bytes = await take(entry as RarEntry, sizeBytes)
      if (crc !== null && crc32(bytes) !== crc)
        throw new Unreadable('The file in the archive is damaged', 'bad_crc')
      return new Uint8Array(bytes)
    },
    head: (entry: Entry, bytes: number) =>
      take(entry as RarEntry, Math.min(bytes, entry.sizeBytes)),
    [Symbol.asyncDispose]: take.dispose,
  }
}

// A self-extracting archive has its signature after the program.
const maxProgramBytes = 1024 * 1024

async function listEntries(file: File, limits: Limits): Promise<Listing> {
  const head = file.read(0, signature5.length)
  if (isRar5(head)) return listRar5(file, limits, signature5.length)
  if (isRar(head)) return listRar4(file, limits, signature4.length)
  const start = file.read(0, maxProgramBytes)
  const at5 = start.indexOf(signature5)
  if (at5 >= 0) return listRar5(file, limits, at5 + signature5.length)
  const at4 = start.indexOf(signature4)
  if (at4 >= 0) return listRar4(file, limits, at4 + signature4.length)
  // Without a valid signature, only header checksums show what the file is.
  const damaged = new Unreadable('The beginning of the archive is damaged', 'bad_crc')
  for (const list of [listRar5, listRar4]) {
    const { entries } = await list(file, limits, null)
    if (entries.length > 0) return { entries, damage: damaged }
  }
  throw new Unreadable('The file is not a RAR archive', 'not_an_archive')
}

// A solid entry belongs to the group of the compressed entry before it.
function groupPositions(entries: readonly RarEntry[]): Map<RarEntry, GroupPosition> {
  const positions = new Map<RarEntry, GroupPosition>()
  let group: RarEntry[] = []
  for (const entry of entries) {
    if (entry.method === 0 || entry.copyOf !== null) continue
    if (!entry.isSolid) group = []
    positions.set(entry, { group, index: group.length })
    group.push(entry)
  }
  return positions
}

type EntryReader = ((entry: RarEntry, bytes: number) => Promise<Uint8Array>) & {
  dispose(): Promise<void>
}

function createEntryReader(
  file: File,
  positions: Map<RarEntry, GroupPosition>,
  limits: Limits,
): EntryReader {
  // Only one group is open at a time.
  let open: { group: SolidGroup; stream: SolidStream } | null = null
  const take = async (entry: RarEntry, bytes: number): Promise<Uint8Array> => {
    const holder = entry.copyOf ?? entry
    if (holder.isEncrypted)
      throw new Unreadable('The file in the archive is encrypted', 'encrypted')
    const position = positions.get(holder)
    if (position === undefined) {
      await file.preload?.([{ ...holder, length: bytes }])
      const stored = file.read(holder.position, Math.min(bytes, holder.packedBytes))
      if (stored.length < bytes)
        throw new Unreadable('The archive is truncated inside the file', 'truncated')
      return stored
    }
    const { group, index } = position
    const head = open?.group === group ? null : await readHeadAlone(file, holder, bytes)
    if (head !== null) return head
    if (open?.group !== group) {
      open?.stream[Symbol.dispose]()
      open = { group, stream: createSolidStream(() => openSolidGroup(file, group, limits)) }
    }
    return open.stream.read(index, bytes)
  }
  const dispose = async () => open?.stream[Symbol.dispose]()
  return Object.assign(take, { dispose })
}

function locate(entry: Entry): EntryLocation {
  const { method, isEncrypted, copyOf, position, packedBytes, sizeBytes, crc, isSolid } =
    entry as RarEntry
  const isStored = method === 0 && !isEncrypted && copyOf === null && packedBytes === sizeBytes
  if (isStored) return { offset: position, headerBytes: 0, packedBytes, method: 0, crc }
  return isSolid ? 'solid' : null
}
