// Data directories with a bundled database that has been set up: creating one takes longer than most tests of it.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { startPostgres } from '../../../lib/store/postgres/embedded/embedded.ts'
import { databaseFolder, type Scope } from '../db.ts'
import { temporaryFolder } from './folders.ts'

let original: Promise<string> | null = null

/** A path for a data directory that does not exist yet, where databases are fast. */
export const newDataDirectory = (t: Scope): string =>
  join(temporaryFolder(t, databaseFolder()), 'data')

/** A data directory whose database was started and stopped, until the end of `t`; a copy of one for the whole process. */
export async function preparedDataDirectory(t: Scope): Promise<string> {
  const source = await (original ??= createOriginal())
  const dataDir = newDataDirectory(t)
  execFileSync('cp', ['-a', source, dataDir])
  return dataDir
}

async function createOriginal(): Promise<string> {
  const folder = mkdtempSync(join(databaseFolder(), 'stackroom-'))
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
  const dataDir = join(folder, 'data')
  await (await startPostgres({ dataDir })).stop()
  return dataDir
}
