// Everything a start needs on disk: programs, an account, the cluster and its settings.
import { existsSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { Invalid } from '../../errors.ts'
import type { Log } from '../../log.ts'
import { type Binaries, copyBinaries, findPackage, readyBinaries } from './binaries.ts'
import { checkVersion, createCluster, giveTree, writeSettings } from './cluster.ts'
import { type Account, canReach, chooseAccount, programPath } from './os-user.ts'
import { isAlive, readPostmaster } from './server.ts'
import { serverSettings } from './settings.ts'

/** Makes `cluster` ready for launch; the caller is inside the gate and no server runs. Throws Invalid, Conflict. */
export async function prepare(
  cluster: string,
  { throwaway, log }: { throwaway: boolean; log?: Log | undefined },
): Promise<{ binaries: Binaries; account: Account }> {
  if (throwaway) rmSync(cluster, { recursive: true, force: true })
  forgetStranger(cluster)
  const account = chooseAccount(cluster)
  const binaries = reachableBinaries(dirname(cluster), account)
  if (existsSync(cluster)) {
    checkVersion(cluster, binaries.major)
    if (account.kind === 'other') giveTree(cluster, account)
  } else {
    const start = performance.now()
    await createCluster(cluster, { binaries, account, sync: !throwaway })
    log?.info({ ms: Math.round(performance.now() - start) }, 'database created')
  }
  writeSettings(cluster, await serverSettings(cluster, account, throwaway), account)
  return { binaries, account }
}

function reachableBinaries(dataDir: string, account: Account): Binaries {
  const { native, version } = findPackage()
  if (!canReach(account, dataDir)) {
    throw new Invalid(
      `Started as root, PostgreSQL has to run under the account number ${account.uid}, which may ` +
        `not enter ${dataDir}; choose another data_dir, start as an ordinary user or set ` +
        'STACKROOM_DATABASE_URL',
    )
  }
  if (canReach(account, programPath(native, 'postgres'))) {
    return readyBinaries(native, version, dataDir)
  }
  return readyBinaries(copyBinaries(native, version, dataDir), version, dataDir)
}

// PostgreSQL clears the file of a dead process itself, with more checks than ours, but believes in
// any living one; after a reboot or in a container that may be a stranger with the same number.
function forgetStranger(cluster: string): void {
  const stale = readPostmaster(cluster)
  if (!stale || !isAlive(stale.pid)) return
  rmSync(join(cluster, 'postmaster.pid'), { force: true })
  // The socket has a lock of its own with the same number; also met as a zombie that nobody reaps.
  if (!stale.host.startsWith('/')) return
  rmSync(join(stale.host, `.s.PGSQL.${stale.port}.lock`), { force: true })
}
