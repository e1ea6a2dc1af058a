// Thread that searches the dumps of this process, and the location of their indexes.
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Piscina } from 'piscina'
import { openPiscina } from '../../base/async/thread-pool.ts'
import type { Log } from '../../base/log.ts'
import type { DumpAccess } from './config.ts'
import type { DumpResult, DumpTask } from './index-thread.ts'

export type DumpsOptions = DumpAccess & {
  /** Folder of the indexes. */
  indexFolder: string
}

export type Dumps = {
  access: DumpAccess
  indexOf(id: string): string
  run(task: DumpTask): Promise<DumpResult>
  /** Deletes the index of a source. */
  remove(id: string): Promise<void>
  close(): Promise<void>
}

const threadFile = fileURLToPath(new URL('./index-thread.ts', import.meta.url))
const idleMs = 60_000

/** One thread for all dumps, started by the first call. */
export function createDumps({ indexFolder, log, ...access }: DumpsOptions & { log: Log }): Dumps {
  let pool: Piscina | null = null
  const indexOf = (id: string) => join(indexFolder, `${id}.sqlite`)
  return {
    access,
    indexOf,
    run(task) {
      pool ??= openPiscina(
        { filename: threadFile, minThreads: 0, maxThreads: 1, idleTimeout: idleMs },
        error => log.error({ err: error }, 'the thread of dumps failed'),
      )
      return pool.run(task)
    },
    remove: id => rm(indexOf(id), { force: true }),
    close: async () => {
      await pool?.destroy()
    },
  }
}
