// Context of the commands that work on the catalogue: configuration, log, migrated database.
import type { Command } from 'commander'
import { assertApartFromData, rootBytes } from '../lib/catalog/library/library-root.ts'
import { type Config, loadConfig } from '../lib/config/config.ts'
import { restrictNewFiles, secureDataFolder } from '../lib/data-folder.ts'
import { Unavailable } from '../lib/errors.ts'
import { type Log, openLog } from '../lib/log.ts'
import { openDatabase, type Sql } from '../lib/postgres/db.ts'
import { migrate } from '../lib/postgres/migrate.ts'
import { openSpaceGuard, type SpaceGuard, shortageMessage } from '../lib/space-guard.ts'
import { assertInstalled } from './installed.ts'
import { exitNow } from './shutdown.ts'
import { closeOnTermination, onTermination } from './signals.ts'

export type CommonFlags = {
  config?: string
  data?: string
  databaseUrl?: string
  logLevel?: string
}

export type Context = { config: Config; log: Log; sql: Sql; space: SpaceGuard }

/** Adds the options that these commands share. */
export function commonOptions(command: Command): Command {
  return command
    .option('-c, --config <file>', 'configuration file (YAML)')
    .option('-d, --data <directory>', 'data directory (default: ./data)')
    .option('--database-url <url>', 'connect to an external PostgreSQL (14 or newer)')
    .option('--log-level <level>', 'trace, debug, info, warn, error or silent')
}

/**
 * Runs `work` with an open context and closes it afterwards. With `quiet` only warnings are logged,
 * unless a flag sets the level. `libraries` are folders that will become libraries.
 */
export async function withContext<T>(
  flags: CommonFlags,
  options: { quiet: boolean; settings?: Record<string, unknown>; libraries?: readonly string[] },
  work: (context: Context) => Promise<T>,
): Promise<T> {
  assertInstalled()
  const level = flags.logLevel ?? (options.quiet ? 'warn' : undefined)
  const config = loadConfig({
    file: flags.config,
    flags: {
      data_dir: flags.data,
      'database.url': flags.databaseUrl,
      'logging.level': level,
      ...options.settings,
    },
  })
  const libraries = await Promise.all((options.libraries ?? []).map(rootBytes))
  await assertApartFromData(config.data_dir, libraries)
  const log = openLog(config.logging)
  restrictNewFiles()
  secureData(config, log)
  // A command that ends because of it reports it itself.
  const space = openSpaceGuard({ config, log: options.quiet ? openLog({ level: 'silent' }) : log })
  const opening = openDatabase(config, { log })
  const signals = config.database.url === null ? closeOnTermination(opening) : null
  try {
    const database = await opening.catch(error => {
      throw withShortage(error, space)
    })
    try {
      await migrate(database.sql, undefined, database)
      await signals?.unlessEnding()
      // Handles signals by itself from now on.
      const working = work({ config, log, space, sql: database.sql })
      signals?.release()
      return await working
    } finally {
      await signals?.unlessEnding()
      await database.close()
    }
  } finally {
    signals?.release()
    space.close()
  }
}

function secureData({ data_dir }: Config, log: Log) {
  try {
    const open = secureDataFolder(data_dir)
    if (open.length > 0)
      log.warn({ paths: open }, 'other users of this machine have access to data')
  } catch {
    // The parts that need the folder report it.
  }
}

/** Resolves at the first SIGINT or SIGTERM; a later one exits the process at once. */
export function untilSignal(): Promise<NodeJS.Signals> {
  return new Promise(resolve => onTermination(resolve, () => exitNow(130)))
}

/** A server that cannot be started on a full disk reports many things, but not the reason. */
function withShortage(error: unknown, space: SpaceGuard): unknown {
  const shortage = space.shortage(['database'])
  if (!shortage) return error
  return new Unavailable(`The database cannot be started. ${shortageMessage(shortage)}`)
}
