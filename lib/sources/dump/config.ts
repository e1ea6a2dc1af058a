// Configuration of a dump source, and which files it may read.
import { realpathSync, statSync } from 'node:fs'
import { isAbsolute, resolve } from 'node:path'
import { Invalid } from '../../base/errors.ts'
import { isWithin } from '../../base/path.ts'
import { body, type Static, Type } from '../../base/schema.ts'
import { HitMapping, SeriesMapping } from '../mapping/series.ts'

export const DumpConfig = body({
  path: Type.String({
    maxLength: 4000,
    pattern: '\\.(?:jsonl|ndjson|json)(?:\\.gz)?$',
    description:
      'Absolute path of a file with a JSON document per line, optionally compressed by gzip; inside filesystem.roots, without which no file is read.',
  }),
  search: HitMapping,
  series: SeriesMapping,
})
export type DumpConfig = Static<typeof DumpConfig>

export type DumpAccess = {
  /** Folders that files may be in. */
  roots: () => readonly string[]
  dataDir: string
}

/** The path without links. Throws Invalid without naming it: a caller learns nothing of other folders. */
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

// One that does not exist has no links.
function realFolder(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return resolve(path)
  }
}
