// The folder of scheduled backups: one that survives the loss of the data directory.
import { realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { Invalid } from '../base/errors.ts'

/** Throws Invalid unless the folder of `file` exists and lies outside of the data directory. */
export function assertOutside(file: string, dataDir: string): void {
  let folder: string
  try {
    folder = realpathSync(dirname(file))
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException
    throw new Invalid(`The folder backup.dir cannot be opened (${code})`, { cause })
  }
  const data = realpathSync(dataDir)
  if (folder === data || folder.startsWith(join(data, '/')))
    throw new Invalid('The folder backup.dir must not lie in the data directory')
}
