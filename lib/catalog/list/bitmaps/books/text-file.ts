// Texts that are too long for memory in a temporary file, which is mostly read from the page cache of the system. It has
// no name, so that it is deleted with the last reference to it, also when the process is killed.
import { close, ftruncate, open, read, write } from 'node:fs'
import { mkdir, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Sql } from 'postgres'
import { newId } from '../../../../id.ts'
import { poolOf } from '../../../../postgres/cancellable.ts'
import type { TextStore } from './text-column.ts'

type Folder = { path: string; hasSpace: () => boolean }

const folders = new WeakMap<Sql, Folder>()

/** Texts of the books of a database are stored in that folder from now on; without one they are not stored. */
export function storeTextsIn(sql: Sql, folder: Folder): void {
  folders.set(poolOf(sql), folder)
}

/** Its file ends with the object. */
export type TextFile = TextStore & {
  /** Writes what was appended. Throws errno errors. */
  flush(): Promise<void>
  hasSpace(): boolean
  /** Gives back the space at once. */
  discard(): Promise<void>
}

const [openAsync, readAsync, writeAsync] = [promisify(open), promisify(read), promisify(write)]
const truncateAsync = promisify<number, void>(ftruncate)
const unused = new FinalizationRegistry<number>(fd => close(fd, () => {}))

/** Null without a folder that has space. */
export async function createTextFile(sql: Sql): Promise<TextFile | null> {
  const folder = folders.get(poolOf(sql))
  if (!folder?.hasSpace()) return null
  await mkdir(folder.path, { recursive: true })
  const path = join(folder.path, `texts-${newId()}`)
  const file = { fd: await openAsync(path, 'wx+', 0o600) }
  unused.register(file, file.fd)
  await unlink(path)
  let texts: Uint8Array[] = []
  return {
    append: text => void texts.push(text),
    async flush() {
      const bytes = Buffer.concat(texts)
      texts = []
      for (let at = 0; at < bytes.length; )
        at += (await writeAsync(file.fd, bytes, at, bytes.length - at, null)).bytesWritten
    },
    hasSpace: folder.hasSpace,
    discard: () => truncateAsync(file.fd),
    finish: () => ({ reader: () => createReader(file) }),
  }
}

function createReader(file: { fd: number }) {
  let buffer = Buffer.alloc(0)
  return async (start: number, end: number): Promise<Buffer> => {
    const length = end - start
    if (buffer.length < length) buffer = Buffer.allocUnsafeSlow(length)
    for (let at = 0; at < length; ) {
      const { bytesRead } = await readAsync(file.fd, buffer, at, length - at, start + at)
      if (bytesRead === 0) throw new Error('a file of texts is too short')
      at += bytesRead
    }
    return buffer.subarray(0, length)
  }
}
