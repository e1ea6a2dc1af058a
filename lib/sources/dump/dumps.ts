// Configuration of a dump source, which files it may read, and the thread that searches the dumps of this process.
import { realpathSync, statSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { isAbsolute, join, resolve } from 'node:path'
import type { Piscina } from 'piscina'
import { openPiscina } from '../../base/async/thread-pool.ts'
import { Invalid } from '../../base/errors.ts'
import type { Log } from '../../base/log.ts'
import { programFile } from '../../base/package.ts'
import { isWithin } from '../../base/path.ts'
import { type Static, strict, Type } from '../../base/schema.ts'
import { HitMapping, SeriesMapping } from '../mapping/series.ts'
import type { DumpResult, DumpTask } from './index-thread.ts'

export const DumpConfig = strict({
  path: Type.String({
    maxLength: 4000,
    pattern: '\\.(?:jsonl|ndjson|json)(?:\\.gz)?$',
    description:
      'Absolute path of a file with one JSON document per line, optionally gzip-compressed. It must be inside filesystem.roots; without these, no file is read.',
  }),
  search: HitMapping,
  series: SeriesMapping,
})
export type DumpConfig = Static<typeof DumpConfig>

export type DumpAccess = {
  /** Folders in which files are permitted. */
  roots: () => readonly string[]
  dataDir: string
}

/** The path with links resolved. The Invalid it throws does not name it, so that a caller learns nothing about other folders. */
export function dumpFile({ path }: DumpConfig, { roots, dataDir }: DumpAccess): string {
  const refused = new Invalid('config.path is not a file in a folder of filesystem.roots')
  if (!isAbsolute(path)) throw refused
  try {
    const real = realpathSync(path)
    const allowed = roots().map(realFolder)
    const isIn = (folder: string) => isWithin(Buffer.from(real), Buffer.from(folder))
    if (!statSync(real).isFile() || isIn(realFolder(dataDir))) throw refused
    if (!allowed.some(isIn)) throw refused
    return real
  } catch (error) {
    if (error instanceof Error && 'syscall' in error) throw refused
    throw error
  }
}

// A folder that does not exist has no links.
function realFolder(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return resolve(path)
  }
}

export type DumpsOptions = DumpAccess & {
  /** Folder of the indexes. */
  indexFolder: string
}

export type Dumps = ReturnType<typeof createDumps>

const threadFile = programFile('lib/sources/dump/index-thread')
const idleMs = 60_000

/** One thread for all dumps, started by the first call. */
export function createDumps({ indexFolder, log, ...access }: DumpsOptions & { log: Log }) {
  let pool: Piscina | null = null
  const indexOf = (id: string) => join(indexFolder, `${id}.sqlite`)
  return {
    access,
    indexOf,
    run(task: DumpTask): Promise<DumpResult> {
      pool ??= openPiscina(
        { filename: threadFile, minThreads: 0, maxThreads: 1, idleTimeout: idleMs },
        error => log.error({ err: error }, 'the thread of dumps failed'),
      )
      return pool.run(task)
    },
    /** Deletes the index of a source. */
    remove: (id: string) => rm(indexOf(id), { force: true }),
    close: async () => {
      await pool?.destroy()
    },
  }
}
