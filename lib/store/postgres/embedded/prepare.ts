// Prepares a server start: binaries, OS user, cluster, settings.
import { chmodSync, existsSync, rmSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { Invalid } from '../../../base/errors.ts'
import type { Log } from '../../../base/log.ts'
import { type Binaries, copyBinaries, type Programs, readyBinaries } from './binaries.ts'
import { changeTreeOwner, checkVersion, createCluster, writeSettings } from './cluster.ts'
import { canReach, chooseOsUser, type OsUser, programPath } from './os-user.ts'
import { isAlive, readPostmaster } from './server.ts'
import { serverSettings } from './settings.ts'

type Options = {
  throwaway: boolean
  port: number | null
  log?: Log | undefined
  programs: Programs
}

/**
 * Prepares `cluster` for launch; the caller holds the start lock and no server is running. Throws Invalid,
 * Conflict.
 */
export async function prepare(
  cluster: string,
  { throwaway, port, log, programs }: Options,
): Promise<{ binaries: Binaries; user: OsUser }> {
  if (throwaway) rmSync(cluster, { recursive: true, force: true })
  removeStaleFiles(cluster)
  const user = chooseOsUser(cluster)
  const binaries = reachableBinaries(dirname(cluster), user, programs)
  if (existsSync(cluster)) {
    checkVersion(cluster, binaries.major)
    if (user.kind === 'other') changeTreeOwner(cluster, user)
  } else {
    const start = performance.now()
    await createCluster(cluster, { binaries, user, sync: !throwaway })
    log?.info({ ms: Math.round(performance.now() - start) }, 'database created')
  }
  writeSettings(cluster, await serverSettings(cluster, user, { throwaway, port }), user)
  return { binaries, user }
}

function reachableBinaries(dataDir: string, user: OsUser, { native, version }: Programs): Binaries {
  // Allows passing through but not listing: the directory belongs to its owner only.
  if (user.kind === 'other') chmodSync(dataDir, statSync(dataDir).mode | 0o011)
  if (!canReach(user, dataDir)) {
    throw new Invalid(
      `When started as root, PostgreSQL runs as user id ${user.uid}, which has no access to ` +
        `${dataDir}; choose another data_dir, start as an ordinary user or set ` +
        'STACKROOM_DATABASE_URL',
    )
  }
  if (canReach(user, programPath(native, 'postgres'))) {
    return readyBinaries(native, version, dataDir)
  }
  return readyBinaries(copyBinaries(native, version, dataDir), version, dataDir)
}

// PostgreSQL removes a dead process's pid file itself, with more checks than ours, but trusts any live pid;
// after a reboot or in a container that may be an unrelated process.
function removeStaleFiles(cluster: string): void {
  const stale = readPostmaster(cluster)
  if (!stale || !isAlive(stale.pid)) return
  rmSync(join(cluster, 'postmaster.pid'), { force: true })
  // The socket has a lock file with the same pid; the process may also be an unreaped zombie.
  if (!stale.host.startsWith('/')) return
  rmSync(join(stale.host, `.s.PGSQL.${stale.port}.lock`), { force: true })
}
