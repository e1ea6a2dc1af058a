// SHA-256 of whole files, in a thread: a synchronous loop over one buffer is 2.7 times as fast as a stream,
// and a buffer per file would cost six times as much for small files.
import { createHash } from 'node:crypto'
import { scoped } from '../../lib/base/async/dispose.ts'
import type { DiskAccess } from '../../lib/base/async/interleave.ts'
import type { Containment } from '../../lib/base/containment.ts'
import { Unreadable } from '../../lib/base/errors.ts'
import { type File, openLibraryFile } from '../../lib/base/file.ts'
import { extensionOf } from '../../lib/base/path.ts'
import type { Limits } from '../../lib/media/archive/limits.ts'
import { checkContent } from '../../lib/media/format/checks.ts'
import type { ReadError } from './reading.ts'

export type FileToHash = {
  id: string
  path: string
  containment: Containment
  size: number
  modifiedMs: number
  /** The known hash of the file, to compare with. */
  sha256: string | null
}

export type HashOptions = { limits: Limits }

export type HashResult = {
  id: string
  /** Lowercase hex; null on an error, for a damaged file, or if the size differs from the cataloged one. */
  sha256: string | null
  /** Why the content is no longer the known one; `changedMs` as in Reading. */
  damage: (ReadError & { changedMs: number }) | null
  /** The file has different bytes than before, and no checksums to show whether it is damaged. */
  isUnchecked: boolean
  size: number
  modifiedMs: number
  bytesRead: number
  error: ReadError | null
}

const blockBytes = 1024 * 1024
const buffer = Buffer.allocUnsafeSlow(blockBytes)

/** Calls `tick` after every block, as a heartbeat. */
export async function hashFile(
  { id, path, containment, size, modifiedMs, sha256: known }: FileToHash,
  { limits }: HashOptions,
  { disk, tick }: { disk: DiskAccess; tick: () => void },
): Promise<HashResult> {
  const result: HashResult = {
    ...{ id, size, modifiedMs, sha256: null, bytesRead: 0 },
    ...{ damage: null, isUnchecked: false, error: null },
  }
  try {
    return await scoped(async use => {
      const file = use(await openLibraryFile(Buffer.from(path, 'latin1'), containment, disk))
      const { sha256, bytes } = await hashContent(file, tick)
      if (bytes !== size) return { ...result, bytesRead: file.bytesRead }
      if (known === null || known === sha256)
        return { ...result, sha256, bytesRead: file.bytesRead }
      const extension = extensionOf(path)
      const check = await checkContent({ file, extension, limits }, tick)
      const outcome =
        check instanceof Unreadable
          ? { damage: { ...failureOf(damagedSince(check)), changedMs: Math.round(file.changedMs) } }
          : { sha256, isUnchecked: check === 'unknown' }
      return { ...result, ...outcome, bytesRead: file.bytesRead }
    })
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error
    return { ...result, error: failureOf(error) }
  }
}

/** The error of a book whose file was intact when last read. */
export const damagedSince = ({ code, message }: Unreadable): Unreadable =>
  new Unreadable(
    `Damaged since it was last read, with an unchanged modification time: ${message}`,
    code,
  )

const failureOf = ({ code, message }: Unreadable): ReadError => ({ code, message })

/** Calls `tick` after every block. Throws Unreadable `io`. */
export async function hashContent(file: File, tick: () => void) {
  const sha = createHash('sha256')
  let bytes = 0
  for await (const block of file.blocks?.(blockBytes) ?? blocksOf(file)) {
    sha.update(block)
    bytes += block.length
    tick()
  }
  return { sha256: sha.digest('hex'), bytes }
}

function* blocksOf(file: File): Generator<Buffer> {
  for (let position = 0; position < file.size; ) {
    const target = buffer.subarray(0, Math.min(blockBytes, file.size - position))
    const block = target.subarray(0, file.readInto(target, position))
    yield block
    position += block.length
    if (block.length < target.length) return
  }
}
