// Access to a RAR of any generation: headers are walked, stored files are read in place, and only the
// entries that a wanted one depends on are unpacked.
import { crc32 } from 'node:zlib'
import { Unreadable } from '../../errors.ts'
import type { File } from '../../file.ts'
import type { Limits } from '../../format/contract.ts'
import type { Container, Entry } from '../container.ts'
import { type Sequence, sequence } from '../solid-stream.ts'
import type { RarEntry } from './entry.ts'
import { listRar4 } from './rar4.ts'
import { listRar5 } from './rar5.ts'
import { type Group, openGroup, quickHead, signature5 } from './solid-group.ts'

type Place = { group: Group; at: number }

const signature4 = Buffer.from('526172211a0700', 'hex')

/** Whether a file begins as a RAR. A program that unpacks itself is no book. */
export const isRar = (head: Uint8Array) => signature4.equals(head.subarray(0, 7)) || isModern(head)

const isModern = (head: Uint8Array) => signature5.equals(head.subarray(0, 8))

/** Opens a RAR. Throws Unreadable: `encrypted`, `multi_volume`, `bad_crc`, `too_large`, `not_an_archive`. */
export async function openRar(file: File, limits: Limits): Promise<Container> {
  const head = file.read(0, signature5.length)
  if (!isRar(head)) throw new Unreadable('The file is no RAR archive', 'not_an_archive')
  const { entries, warnings } = (isModern(head) ? listRar5 : listRar4)(file, limits)
  if (entries.length > limits.entries)
    throw new Unreadable('The archive lists too many files', 'too_large')
  if (entries.length > 0 && entries.every(entry => entry.isEncrypted))
    throw new Unreadable('The archive is encrypted', 'encrypted')
  const take = taker(file, places(entries), limits)
  return {
    entries,
    warnings,
    async read(entry, maxBytes) {
      const { bytes: size, crc } = entry as RarEntry
      if (size > maxBytes) throw new Unreadable('The file in the archive is too large', 'too_large')
      const bytes = await take(entry as RarEntry, size)
      if (crc !== null && crc32(bytes) !== crc)
        throw new Unreadable('The file in the archive is damaged', 'bad_crc')
      return new Uint8Array(bytes)
    },
    head: (entry: Entry, bytes: number) => take(entry as RarEntry, Math.min(bytes, entry.bytes)),
    [Symbol.asyncDispose]: take.dispose,
  }
}

// A solid entry joins the group of the packed entry before it.
function places(entries: readonly RarEntry[]): Map<RarEntry, Place> {
  const found = new Map<RarEntry, Place>()
  let group: RarEntry[] = []
  for (const entry of entries) {
    if (entry.method === 0 || entry.copyOf !== null) continue
    if (!entry.isSolid) group = []
    found.set(entry, { group, at: group.length })
    group.push(entry)
  }
  return found
}

type Taker = ((entry: RarEntry, bytes: number) => Promise<Uint8Array>) & {
  dispose(): Promise<void>
}

function taker(file: File, all: Map<RarEntry, Place>, limits: Limits): Taker {
  // One group is unpacked at a time.
  let open: { group: Group; stream: Sequence } | null = null
  const take = async (entry: RarEntry, bytes: number): Promise<Uint8Array> => {
    const holder = entry.copyOf ?? entry
    if (holder.isEncrypted)
      throw new Unreadable('The file in the archive is encrypted', 'encrypted')
    const place = all.get(holder)
    if (place === undefined) {
      const stored = file.read(holder.position, Math.min(bytes, holder.packed))
      if (stored.length < bytes)
        throw new Unreadable('The archive ends before the file does', 'truncated')
      return stored
    }
    const { group, at } = place
    const head = open?.group === group ? null : await quickHead(file, holder, bytes)
    if (head !== null) return head
    if (open?.group !== group) {
      open?.stream[Symbol.dispose]()
      open = { group, stream: sequence(() => openGroup(file, group, limits)) }
    }
    return open.stream.take(at, bytes)
  }
  const dispose = async () => open?.stream[Symbol.dispose]()
  return Object.assign(take, { dispose })
}
