// What a scan would find and read, without reading or writing anything.
import type { Sql } from 'postgres'
import type { LibraryRow } from '../../lib/catalog/library/library.ts'
import { Invalid } from '../../lib/errors.ts'
import { newId } from '../../lib/id.ts'
import { relativeTo } from '../../lib/path.ts'
import { discover, unavailable } from './discover.ts'
import { type LoadedScan, librarySettings, noLibrary } from './scan-context.ts'

type Request = {
  library: LibraryRow | null
  path: Buffer
  mode: 'normal' | 'deep'
  strategy?: string
}

/** `files` and `bytes` are what is new or different; nothing is opened to know it. */
export async function estimateScan(sql: Sql, { library, path, mode, strategy }: Request) {
  const settings = library ? await librarySettings(sql, library.id) : noLibrary(path, strategy)
  const inside = library && relativeTo(library.root, path)
  const scan: LoadedScan = {
    ...settings,
    scanId: newId(),
    deep: mode === 'deep',
    followed: false,
    state: 'running',
    paths: inside ? [inside] : [],
    options: {},
  }
  const reason = await unavailable(sql, scan)
  if (reason) throw new Invalid(reason)
  const found = await discover({ sql, queue: null, scan, dry: true, stop: () => false })
  return {
    found: found.files,
    files: found.toRead,
    bytes: found.toReadBytes,
    missing: found.vanished,
    unchanged: found.files - found.toRead,
    unreadableDirectories: found.unreadable,
  }
}
