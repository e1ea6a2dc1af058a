// Missing library files, and library folders that are not mounted.
import { opendir } from 'node:fs/promises'
import { NotFound, NotMounted } from './errors.ts'

/** Whether the system reported that a file does not exist. */
export const isFileMissing = (error: unknown): boolean =>
  error instanceof NotFound &&
  ['ENOENT', 'ENOTDIR'].includes((error.cause as NodeJS.ErrnoException | undefined)?.code ?? '')

/**
 * The error for a missing file: NotMounted if the folder of its library is missing or empty, otherwise
 * NotFound. `root`: latin1 (one character per byte). Never throws.
 */
export async function missingFile(root: string, cause?: unknown): Promise<NotFound | NotMounted> {
  const isMounted = await hasEntries(Buffer.from(root, 'latin1')).catch(() => false)
  return isMounted
    ? new NotFound('The file of the book does not exist', { cause })
    : new NotMounted()
}

async function hasEntries(folder: Buffer): Promise<boolean> {
  // The declared type does not include buffers, which Node accepts.
  const directory = await opendir(folder as unknown as string, { encoding: 'buffer' as never })
  try {
    return (await directory.read()) !== null
  } finally {
    await directory.close()
  }
}
