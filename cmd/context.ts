// Context of commands that work on the catalog: configuration, log, migrated database.
import type { Command } from 'commander'
import { upgradeDatabase } from '../lib/backup/upgrade.ts'
import { createDataFolder, restrictNewFiles, secureDataFolder } from '../lib/base/data-folder.ts'
import { Failure, Unavailable } from '../lib/base/errors.ts'
import { type Log, logsToTerminal, openLog, openStderr } from '../lib/base/log.ts'
import { assertApartFromData, rootBytes } from '../lib/catalog/library/library-root.ts'
import { type Config, loadConfig } from '../lib/store/config/config.ts'
import { joinInstallation } from '../lib/store/installation.ts'
import { type Database, openDatabase, type Sql } from '../lib/store/postgres/db.ts'
import { missingFixes } from '../lib/store/postgres/driver.ts'
import { migrate } from '../lib/store/postgres/migrate.ts'
import { openSecrets } from '../lib/store/secret/secrets.ts'
import { checkSecrets } from '../lib/store/secret/stored.ts'
import { openSpaceGuard, type SpaceGuard, shortageMessage } from '../lib/store/space-guard.ts'
import { rebuildQueue } from '../pipeline/doctor/rebuild.ts'
import { assertInstalled } from './installed.ts'
import { logText } from './log-text.ts'
import { createShutdown, type Shutdown } from './shutdown.ts'

export type CommonFlags = {
  config?: string
  data?: string
  databaseUrl?: string
  logLevel?: string
}

export type Context = {
  config: Config
  log: Log
  sql: Sql
  space: SpaceGuard
  shutdown: Shutdown
}

/** Adds the options shared by these commands. */
export function commonOptions(command: Command): Command {
  return command
    .option('-c, --config <file>', 'configuration file (YAML)')
    .option('-d, --data <directory>', 'data directory (default: ./data)')
    .option('--database-url <url>', 'connect to an external PostgreSQL (14 or newer)')
    .option('--log-level <level>', 'trace, debug, info, warn, error or silent')
}

type Options = {
  /** Only logs warnings, unless a flag sets the level. */
  quiet: boolean
  settings?: Record<string, unknown>
  /** Folders that will become libraries. */
  libraries?: readonly string[]
  /**
   * How the data directory must relate to this database; `unused` for commands that do not read or write
   * files.
   */
  dataDirectory?: 'belonging' | 'adopted' | 'renewed' | 'unused'
  /** Default true; otherwise the database may have the schema of an older version, or none. */
  migrates?: boolean
  /** `work` ends on its own after a signal. */
  endsItself?: boolean
}

/** Runs `work` with an open context and closes it afterwards, even if a signal interrupts startup. */
export async function withContext<T>(
  flags: CommonFlags,
  options: Options,
  work: (context: Context) => Promise<T>,
): Promise<T> {
  assertInstalled()
  const config = configOf(flags, options)
  const libraries = await Promise.all((options.libraries ?? []).map(rootBytes))
  await assertApartFromData(config.data_dir, libraries)
  const log = openLog(config.logging, logStream())
  for (const fault of missingFixes)
    log.warn({ fault }, 'the installed version of the PostgreSQL driver has a known bug')
  restrictNewFiles()
  if (options.dataDirectory !== 'unused') openData(config, log)
  // A command that ends because of low space reports this itself.
  const space = openSpaceGuard({ config, log: options.quiet ? openLog({ level: 'silent' }) : log })
  const shutdown = createShutdown()
  let database: Database | null = null
  let isFailed = false
  let isPrepared = false
  try {
    const upgrading = upgradeDatabase(config, { log, signal: shutdown.signal })
    const isUpgraded = await upgrading.catch(error => {
      throw shutdown.isRequested() ? shutdown.signal.reason : error
    })
    const opening = openDatabase(config, { log, signal: shutdown.signal })
    database = await shutdown.unlessRequested(opening, opened => opened.close(1))
    const { sql } = database
    await shutdown.unlessRequested(prepare(database, config, { log, ...options }))
    // Without migrations the tables may be older than this code; later scans find what is due.
    if (isUpgraded && options.migrates !== false)
      await rebuildQueue(sql, error => log.error({ err: error }, 'job queue error'))
    isPrepared = true
    const working = work({ config, log, space, sql, shutdown })
    return await (options.endsItself ? working : shutdown.unlessRequested(working))
  } catch (error) {
    isFailed = true
    const isForeseen = database !== null && error instanceof Failure
    const isStart = !isPrepared && !isForeseen && !shutdown.isRequested()
    const failure = isStart ? withShortage(error, space) : error
    shutdown.fail(failure)
    throw failure
  } finally {
    await database?.close(isFailed ? 1 : undefined)
    space.close()
  }
}

function configOf({ config, data, databaseUrl, logLevel }: CommonFlags, options: Options): Config {
  return loadConfig({
    file: config,
    flags: {
      data_dir: data,
      'database.url': databaseUrl,
      'logging.level': logLevel ?? (options.quiet ? 'warn' : undefined),
      ...options.settings,
    },
  })
}

/** Migrates the database, and ensures that the data directory belongs to it. */
async function prepare(
  database: Database,
  config: Config,
  { log, dataDirectory = 'belonging', migrates = true }: Options & { log: Log },
) {
  const { sql, place } = database
  if (!migrates) return
  for (const { number, name, ms } of await migrate(sql, undefined, database))
    log.info({ number, name, ms }, 'migration applied')
  if (dataDirectory === 'unused') return
  // The bundled database is in its data directory.
  const adopts = dataDirectory === 'adopted' || config.database.url === null
  const renews = dataDirectory === 'renewed'
  await joinInstallation(sql, { folder: config.data_dir, place, adopts, renews })
  await warnOfSecrets(sql, config, log)
}

/** The server starts without readable secrets. */
async function warnOfSecrets(sql: Sql, config: Config, log: Log) {
  const secrets = openSecrets(config)
  const unreadable = await checkSecrets(sql, secrets)
  if (unreadable === null) return
  const { sources, signingKeys } = unreadable
  log.error(
    { file: secrets.file, sources, accessTokensEnded: signingKeys },
    'secrets in the database were encrypted with another key: restore its file (secrets.key_file), or reenter the credentials of these sources; access tokens will be renewed',
  )
}

function openData({ data_dir }: Config, log: Log) {
  createDataFolder(data_dir)
  const open = secureDataFolder(data_dir)
  if (open.length > 0)
    log.warn({ paths: open }, 'other users of this machine have access to the data directory')
}

/** A server that fails to start on a full disk reports many things, but not the reason. */
function withShortage(error: unknown, space: SpaceGuard): unknown {
  const shortage = space.shortage(['database'])
  if (!shortage) return error
  return new Unavailable(`The database cannot be started. ${shortageMessage(shortage)}`)
}

function logStream() {
  const stderr = openStderr()
  return logsToTerminal ? { write: (line: string) => stderr.write(logText(line)) } : stderr
}
