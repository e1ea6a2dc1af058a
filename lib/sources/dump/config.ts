// Configuration of a dump source, and which files it may read.
import { realpathSync, statSync } from 'node:fs'
import { isAbsolute, resolve } from 'node:path'
import { Invalid } from '../../base/errors.ts'
import { isWithin } from '../../base/path.ts'
import { type Static, strict, Type } from '../../base/schema.ts'
import { HitMapping, SeriesMapping } from '../mapping/series.ts'

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
