// Restores a backup into the database and the data directory of an installation.
import { existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { scoped } from '../base/async/dispose.ts'
import { Conflict } from '../base/errors.ts'
import { coverFolders, writeAtomically } from '../catalog/cover/cover-files.ts'
import type { Sql } from '../store/postgres/db.ts'
import { parseKeys, readKeys, writeKeys } from '../store/secret/key-file.ts'
import type { Secrets } from '../store/secret/secrets.ts'
import { loadBackup } from './load.ts'
import { coversFolder, thumbnailsFolder } from './manifest.ts'
import { openKeys } from './sealed-keys.ts'
import { type OpenBackup, openBackup } from './verify.ts'

export type RestoreOptions = {
  sql: Sql
  file: string
  dataDir: string
  secrets: Secrets
  /** Opens the key of the secrets, if the backup contains it. */
  passphrase?: string | undefined
  /** Deletes accounts and libraries that the database contains. */
  replace: boolean
  signal?: AbortSignal | undefined
}

/**
 * Rows change in one transaction, after the keys and covers are in place: these are only added, so that an interruption
 * changes nothing that is in use. Throws Conflict (not empty, in use), Invalid (damaged, another version, passphrase).
 */
export async function restoreBackup(options: RestoreOptions): Promise<void> {
  const { sql, file, dataDir, secrets, passphrase, replace, signal } = options
  await assertUnused(sql)
  if (!replace) await assertEmpty(sql)
  await scoped(async use => {
    const backup = use(await openBackup(file))
    if (passphrase !== undefined) await restoreKeys(backup, secrets, passphrase)
    await restoreCovers(backup, dataDir, signal)
    await loadBackup(sql, { backup, place: 'The database of the backup', signal })
  })
  // Stored lists of the old catalog could have the version of a new one.
  await rm(join(dataDir, 'cache', 'lists'), { recursive: true, force: true })
}

/** Connections of other processes are older than this one. */
async function assertUnused(sql: Sql) {
  const [row] = await sql<[{ others: number }]>`
    select count(*) as others from pg_stat_activity
    where datname = current_database() and application_name = current_setting('application_name')
      and backend_start < now() - make_interval(secs => ${process.uptime()})`
  if (row.others > 0)
    throw new Conflict('The database is in use: stop `serve`, `worker` and `scan` first')
}

async function assertEmpty(sql: Sql) {
  const [row] = await sql<[{ accounts: number; libraries: number }]>`
    select (select count(*) from account) as accounts, (select count(*) from library) as libraries`
  if (row.accounts + row.libraries > 0)
    throw new Conflict(
      `The database contains ${row.accounts} accounts and ${row.libraries} libraries; --replace deletes them`,
    )
}

/** The keys of the backup come first; keys in the file stay. */
async function restoreKeys(backup: OpenBackup, { file }: Secrets, passphrase: string) {
  const sealed = await backup.keys()
  if (sealed === null) return
  const restored = parseKeys(await openKeys(sealed, passphrase), file)
  const present = existsSync(file) ? readKeys(file) : []
  const ids = new Set(restored.map(({ id }) => id))
  writeKeys(file, [...restored, ...present.filter(({ id }) => !ids.has(id))])
}

/** Files are named by their content. */
async function restoreCovers(
  backup: OpenBackup,
  dataDir: string,
  signal: AbortSignal | undefined,
): Promise<void> {
  const { originals, thumbnails } = coverFolders(dataDir)
  const safe = /^[0-9a-f]{3}\/[0-9a-f]{40}\.[a-z0-9]{1,10}$/
  for (const name of backup.coverNames()) {
    signal?.throwIfAborted()
    const [folder, prefix] = name.startsWith(coversFolder)
      ? [originals, coversFolder]
      : [thumbnails, thumbnailsFolder]
    const below = name.slice(prefix.length)
    if (!safe.test(below)) continue
    const path = join(folder, below)
    if (existsSync(path)) continue
    await writeAtomically(path, await backup.cover(name))
  }
}
