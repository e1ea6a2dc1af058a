// Temporary files of what lists are made from, in a folder of the data directory; mostly read from the page cache of the
// system. A file has no name, so that it is deleted with the last reference to it, also when the process is killed.
import { close, ftruncate, open, read, write } from 'node:fs'
import { mkdir, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { newId } from '../../base/id.ts'

export type Folder = { path: string; hasSpace: () => boolean }

/** Throws errno errors. Ends with the object, or when there is no more space. */
export type TemporaryFile = {
  /** At its end. */
  append(bytes: Uint8Array): Promise<void>
  /** Fills `bytes` with those from `position` on. */
  read(bytes: Uint8Array, position: number): Promise<void>
  hasSpace(): boolean
  /** Gives back the space at once; nothing is read and written from then on. */
  discard(): Promise<void>
}

const [openAsync, readAsync, writeAsync] = [promisify(open), promisify(read), promisify(write)]
const truncateAsync = promisify<number, void>(ftruncate)
const unused = new FinalizationRegistry<number>(fd => close(fd, () => {}))

const checkMs = 1_000

/** Creates files in the folder: null without one that has space. */
export const createTemporaryFiles =
  (folder: Folder | null) => async (): Promise<TemporaryFile | null> =>
    folder?.hasSpace() ? await createTemporaryFile(folder) : null

async function createTemporaryFile(folder: Folder): Promise<TemporaryFile> {
  await mkdir(folder.path, { recursive: true })
  const path = join(folder.path, `list-${newId()}`)
  const open = { fd: await openAsync(path, 'wx+', 0o600) }
  // Closed when nothing refers to the functions of the file any more; a call in progress does.
  unused.register(open, open.fd)
  let isDiscarded = false
  const check = () => {
    if (isDiscarded) throw new Error('a temporary file was given back')
  }
  const file: TemporaryFile = {
    async append(bytes) {
      check()
      for (let at = 0; at < bytes.length; )
        at += (await writeAsync(open.fd, bytes, at, bytes.length - at, null)).bytesWritten
    },
    async read(bytes, position) {
      check()
      for (let at = 0; at < bytes.length; ) {
        const { bytesRead } = await readAsync(open.fd, bytes, at, bytes.length - at, position + at)
        if (bytesRead === 0) throw new Error('a temporary file is too short')
        at += bytesRead
      }
    },
    hasSpace: folder.hasSpace,
    async discard() {
      isDiscarded = true
      await truncateAsync(open.fd)
    },
  }
  await unlink(path)
  discardWhenShort(new WeakRef(file), folder)
  return file
}

/** Discards the file when the folder has no more space. */
function discardWhenShort(file: WeakRef<TemporaryFile>, { hasSpace }: Folder): void {
  const timer = setInterval(() => {
    const open = file.deref()
    if (open && hasSpace()) return
    clearInterval(timer)
    void open?.discard().catch(() => {})
  }, checkMs).unref()
}
