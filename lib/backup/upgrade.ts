// Upgrade of the bundled database to the packaged major version of PostgreSQL: the old server writes a backup, a new
// cluster loads it, and takes the place of the old one, which stays beside it.
//
//   <data>/upgrade/old        a server for <data>/postgres, as it is
//   <data>/upgrade/new        the new cluster
//   <data>/upgrade/complete   the new one is whole: only the folders have to be renamed
import {
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statfsSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { scoped } from '../base/async/dispose.ts'
import { Unavailable } from '../base/errors.ts'
import type { Log } from '../base/log.ts'
import type { Config } from '../store/config/config.ts'
import { connect, type Sql } from '../store/postgres/db.ts'
import { findPackage, majorOf, type Programs } from '../store/postgres/embedded/binaries.ts'
import { startPostgres } from '../store/postgres/embedded/embedded.ts'
import { fetchedPrograms, previousPrograms } from '../store/postgres/embedded/previous-programs.ts'
import { withStartLock } from '../store/postgres/embedded/start-lock.ts'
import { openSecrets } from '../store/secret/secrets.ts'
import { loadBackup } from './load.ts'
import { openBackup } from './verify.ts'
import { writeBackup } from './write.ts'

type UpgradeConfig = Pick<Config, 'data_dir' | 'database' | 'secrets'>
type Options = { log?: Log | undefined; signal?: AbortSignal | undefined }

/**
 * Upgrades the cluster in the data directory if it is of an older major version, and returns whether it was. Can be
 * killed at any point: until the end the old cluster is not changed. Throws Invalid (programs), Unavailable (space).
 */
export async function upgradeDatabase(config: UpgradeConfig, options: Options): Promise<boolean> {
  if (config.database.url !== null || !existsSync(config.data_dir)) return false
  const dataDir = realpathSync(config.data_dir)
  if (!needsUpgrade(dataDir)) return false
  return await withStartLock(dataDir, () => upgrade(dataDir, config, options), options)
}

const clusterOf = (dataDir: string) => join(dataDir, 'postgres')
const isComplete = (dataDir: string) => existsSync(join(dataDir, 'upgrade', 'complete'))

/** The major version of a cluster; null without one. */
function createdBy(cluster: string): string | null {
  const file = join(cluster, 'PG_VERSION')
  return existsSync(file) ? readFileSync(file, 'utf8').trim() : null
}

function needsUpgrade(dataDir: string): boolean {
  if (isComplete(dataDir)) return true
  const major = createdBy(clusterOf(dataDir))
  return major !== null && Number(major) < Number(majorOf(findPackage().version))
}

async function upgrade(dataDir: string, config: UpgradeConfig, { log, signal }: Options) {
  // Another process may have done it meanwhile.
  if (!needsUpgrade(dataDir)) return false
  const work = join(dataDir, 'upgrade')
  if (!isComplete(dataDir)) {
    const [old, current] = [createdBy(clusterOf(dataDir))!, majorOf(findPackage().version)]
    log?.warn({ from: old, to: current }, 'upgrading the database; this may take some minutes')
    rmSync(work, { recursive: true, force: true })
    const programs = await previousPrograms(old, { dataDir, log })
    for (const name of ['', 'old', 'new']) mkdirSync(join(work, name), { mode: 0o711 })
    symlinkSync(clusterOf(dataDir), join(work, 'old', 'postgres'))
    const file = join(work, 'database.backup')
    await withServer(join(work, 'old'), { log, programs }, async sql => {
      await assertSpace(sql, dataDir)
      const secrets = openSecrets(config)
      await writeBackup({ sql, file, dataDir, secrets, scope: 'all', signal })
    })
    await withServer(join(work, 'new'), { log }, sql =>
      scoped(async use => {
        const backup = use(await openBackup(file))
        await loadBackup(sql, { backup, place: `The database in ${dataDir}`, signal })
      }),
    )
    writeFileSync(join(work, 'complete'), `${old}\n`)
  }
  const old = readFileSync(join(work, 'complete'), 'utf8').trim()
  const previous = `${clusterOf(dataDir)}-${old}`
  const upgraded = join(work, 'new', 'postgres')
  if (existsSync(upgraded)) {
    if (existsSync(clusterOf(dataDir))) {
      rmSync(previous, { recursive: true, force: true })
      renameSync(clusterOf(dataDir), previous)
    }
    renameSync(upgraded, clusterOf(dataDir))
  }
  for (const folder of [work, fetchedPrograms(dataDir, old)])
    rmSync(folder, { recursive: true, force: true })
  log?.warn(
    { folder: previous },
    'the database is upgraded; the folder of the old one can be deleted',
  )
  return true
}

type ServerOptions = { log?: Log | undefined; programs?: Programs }

async function withServer(
  dataDir: string,
  options: ServerOptions,
  work: (sql: Sql) => Promise<void>,
): Promise<void> {
  const server = await startPostgres({ dataDir, ...options })
  const sql = connect(server.url, { max: 2 })
  try {
    await work(sql)
  } finally {
    await sql.end({ timeout: 1 })
    await server.stop()
  }
}

/** The new cluster and the backup have to fit beside the old one. */
async function assertSpace(sql: Sql, dataDir: string) {
  const [row] = await sql<[{ bytes: number }]>`
    select pg_database_size(current_database()) as bytes`
  const { bavail, bsize } = statfsSync(dataDir)
  const needed = row.bytes * 1.3
  if (bavail * bsize >= needed) return
  const mb = (bytes: number) => `${Math.ceil(bytes / 1024 ** 2)} MiB`
  throw new Unavailable(
    `The upgrade of the database needs ${mb(needed)} of free space in ${dataDir}, which has ${mb(bavail * bsize)}`,
  )
}
