// Environments of indexes in tests.
import type { Sql } from 'postgres'
import type { Log } from '../../lib/base/log.ts'
import type { Environment } from '../../lib/list/index/index-schema.ts'
import { createTemporaryFiles, type Folder } from '../../lib/list/index/temporary-file.ts'
import { createFailureNotes } from '../../lib/list/lists.ts'

export const environmentOf = (
  pool: Sql,
  {
    folder = null,
    log,
    maxBytes = 10 ** 9,
  }: { folder?: Folder | null; log?: Log; maxBytes?: number } = {},
): Environment => ({
  pool,
  maxBytes,
  createFile: createTemporaryFiles(folder),
  noteFailure: createFailureNotes(log ?? null),
})
