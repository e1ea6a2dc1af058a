// Estimates a scan: counts what it would find and read, without opening or writing anything.
import { scoped } from '../../lib/base/async/dispose.ts'
import type { FileAccess } from '../../lib/base/containment.ts'
import { Invalid, NotFound } from '../../lib/base/errors.ts'
import { newId } from '../../lib/base/id.ts'
import { relativeTo } from '../../lib/base/path.ts'
import type { LibraryRow } from '../../lib/catalog/library/library.ts'
import type { Sql } from '../../lib/store/postgres/db.ts'
import { unavailableReason } from './availability.ts'
import { discover, openScanWalk } from './discover.ts'
import { defaultLibrarySettings, type LoadedScan, librarySettings } from './scan-context.ts'

type EstimateRequest = {
  /** Null for a folder that is not yet a library. */
  library: LibraryRow | null
  path: Buffer
  access: FileAccess
  /** `pipeline.io_depth` */
  ioDepth: number
  mode: 'normal' | 'deep'
  strategy?: string
}

/** `files` and `bytes` count new and changed files. Throws Invalid if the folder is unavailable. */
export async function estimateScan(
  sql: Sql,
  { library, path, access, ioDepth, mode, strategy }: EstimateRequest,
) {
  const settings = library
    ? await librarySettings(sql, library.id)
    : defaultLibrarySettings(path, strategy)
  if (!settings) throw new NotFound('Library not found')
  const relative = library && relativeTo(library.root, path)
  const scan: LoadedScan = {
    ...settings,
    scanId: newId(),
    deep: mode === 'deep',
    followed: false,
    state: 'running',
    paths: relative ? [relative] : [],
    options: {},
  }
  const reason = await unavailableReason(sql, scan)
  if (reason) throw new Invalid(reason)
  const result = await scoped(use => {
    const walk = use(openScanWalk({ scan, access, ioDepth }))
    const options = { sql, queue: null, scan, walk }
    return discover({ ...options, isDryRun: true, isStopped: () => false })
  })
  return {
    found: result.files,
    files: result.toRead,
    bytes: result.toReadBytes,
    missing: result.missing,
    unchanged: result.files - result.toRead,
    unreadableDirectories: result.unreadable,
  }
}
