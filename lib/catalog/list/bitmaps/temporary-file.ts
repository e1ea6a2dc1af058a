// Temporary files of what lists are made from, in a folder of the data directory; mostly read from the page cache of the
// system. A file has no name, so that it is deleted with the last reference to it, also when the process is killed.
import { close, ftruncate, open, read, write } from 'node:fs'
import { mkdir, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Sql } from 'postgres'
import { newId } from '../../../id.ts'
import { poolOf } from '../../../postgres/cancellable.ts'

type Folder = { path: string; hasSpace: () => boolean }

const folders = new WeakMap<Sql, Folder>()

/** Files of the lists of a database are in that folder from now on; without one there are none. */
export function storeListsIn(sql: Sql, folder: Folder): void {
  folders.set(poolOf(sql), folder)
}

/** Throws errno errors. Ends with the object. */
export type TemporaryFile = {
  /** At its end. */
  append(bytes: Uint8Array): Promise<void>
  /** Fills `bytes` with those from `position` on. */
  read(bytes: Uint8Array, position: number): Promise<void>
  hasSpace(): boolean
  /** Gives back the space at once. */
  discard(): Promise<void>
}

const [openAsync, readAsync, writeAsync] = [promisify(open), promisify(read), promisify(write)]
const truncateAsync = promisify<number, void>(ftruncate)
const unused = new FinalizationRegistry<number>(fd => close(fd, () => {}))

/** Null without a folder that has space. */
export async function createTemporaryFile(sql: Sql): Promise<TemporaryFile | null> {
  const folder = folders.get(poolOf(sql))
  if (!folder?.hasSpace()) return null
  await mkdir(folder.path, { recursive: true })
  const path = join(folder.path, `list-${newId()}`)
  const fd = await openAsync(path, 'wx+', 0o600)
  const file: TemporaryFile = {
    async append(bytes) {
      for (let at = 0; at < bytes.length; )
        at += (await writeAsync(fd, bytes, at, bytes.length - at, null)).bytesWritten
    },
    async read(bytes, position) {
      for (let at = 0; at < bytes.length; ) {
        const { bytesRead } = await readAsync(fd, bytes, at, bytes.length - at, position + at)
        if (bytesRead === 0) throw new Error('a temporary file is too short')
        at += bytesRead
      }
    },
    hasSpace: folder.hasSpace,
    discard: () => truncateAsync(fd),
  }
  unused.register(file, fd)
  await unlink(path)
  return file
}
