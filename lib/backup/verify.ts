// Reads a whole backup and compares everything with its manifest.
import { scoped } from '../base/async/dispose.ts'
import { Invalid } from '../base/errors.ts'
import { coverName } from '../catalog/cover/cover-files.ts'
import { defaultLimits } from '../media/archive/limits.ts'
import { type ArchiveReader, openArchive } from './archive.ts'
import {
  coversFolder,
  keysEntry,
  type Manifest,
  manifestEntry,
  parseManifest,
  pieceEntry,
  thumbnailsFolder,
} from './manifest.ts'
import { maxPieceBytes, sha256Of } from './pieces.ts'

// Room for the pieces of a terabyte.
const maxManifestBytes = 64 * 1024 ** 2

/** An opened backup; its pieces are checked when they are read. */
export type OpenBackup = AsyncDisposable & {
  manifest: Manifest
  /** A compressed piece. Throws Invalid. */
  piece(table: string, index: number): Promise<Uint8Array>
  /** The sealed key file; null without one. Throws Invalid. */
  keys(): Promise<Uint8Array | null>
  /** Names of the cover files, below `covers/` and `thumbnails/`. */
  coverNames(): string[]
  cover(name: string): Promise<Uint8Array>
}

/** Throws Invalid for a file that is not a whole backup, or comes from a newer version. */
export async function openBackup(path: string): Promise<OpenBackup> {
  const archive = await openArchive(path)
  try {
    const text = await archive.read(manifestEntry, maxManifestBytes)
    if (text === null) throw new Invalid(`${path} is not a backup of Stackroom`)
    return open(archive, parseManifest(Buffer.from(text).toString('utf8')), path)
  } catch (error) {
    await archive[Symbol.asyncDispose]()
    throw error
  }
}

function open(archive: ArchiveReader, manifest: Manifest, path: string): OpenBackup {
  const damaged = (name: string) => new Invalid(`${path} is damaged: ${name}`)
  const tables = new Map(manifest.tables.map(table => [table.name, table]))
  const required = async (name: string, maxBytes: number) => {
    const bytes = await archive.read(name, maxBytes)
    if (bytes === null) throw damaged(`${name} is missing`)
    return bytes
  }
  return {
    manifest,
    async piece(table, index) {
      const name = pieceEntry(table, index)
      const bytes = await required(name, maxPieceBytes)
      if (sha256Of(bytes) !== tables.get(table)?.pieces[index]?.sha256)
        throw damaged(`${name} differs from what was written`)
      return bytes
    },
    keys: () => (manifest.hasKeys ? required(keysEntry, 1024 ** 2) : Promise.resolve(null)),
    coverNames: () =>
      archive.names().filter(n => n.startsWith(coversFolder) || n.startsWith(thumbnailsFolder)),
    async cover(name) {
      const bytes = await required(name, defaultLimits.entryBytes)
      const [, stated] = /^covers\/.*?([0-9a-f]{40})\.[^/]*$/.exec(name) ?? []
      if (stated !== undefined && coverName(bytes) !== stated)
        throw damaged(`${name} differs from what was written`)
      return bytes
    },
    [Symbol.asyncDispose]: () => archive[Symbol.asyncDispose](),
  }
}

/** Reads everything. Throws Invalid, and the reason of `signal`. */
export const verifyBackup = (path: string, signal?: AbortSignal): Promise<Manifest> =>
  scoped(async use => {
    const backup = use(await openBackup(path))
    const { manifest } = backup
    for (const { name, pieces } of manifest.tables)
      for (let i = 0; i < pieces.length; i++) {
        signal?.throwIfAborted()
        await backup.piece(name, i)
        await nextTurn()
      }
    await backup.keys()
    const names = backup.coverNames()
    if (names.length !== manifest.covers.files)
      throw new Invalid(`${path} is damaged: it contains ${names.length} files of covers`)
    for (const name of names) {
      signal?.throwIfAborted()
      await backup.cover(name)
    }
    return manifest
  })

// Files are read synchronously: signals and other work have their turn between two pieces.
const nextTurn = () => new Promise(setImmediate)
