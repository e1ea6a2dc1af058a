// Context of the commands that work on the catalogue: configuration, log, migrated database.
import type { Command } from 'commander'
import { type Config, loadConfig } from '../lib/config/config.ts'
import { type Log, openLog } from '../lib/log.ts'
import { openDatabase, type Sql } from '../lib/postgres/db.ts'
import { migrate } from '../lib/postgres/migrate.ts'

export type CommonFlags = {
  config?: string
  data?: string
  databaseUrl?: string
  logLevel?: string
}

export type Context = { config: Config; log: Log; sql: Sql }

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
 * unless a flag sets the level.
 */
export async function withContext<T>(
  flags: CommonFlags,
  options: { quiet: boolean; settings?: Record<string, unknown> },
  work: (context: Context) => Promise<T>,
): Promise<T> {
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
  const log = openLog(config.logging)
  const database = await openDatabase(config, { log })
  try {
    await migrate(database.sql)
    return await work({ config, log, sql: database.sql })
  } finally {
    await database.close()
  }
}

/** Resolves at the first SIGINT or SIGTERM; a second one exits the process at once. */
export function untilSignal(): Promise<NodeJS.Signals> {
  return new Promise(resolve => {
    let isSignalled = false
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      process.on(signal, () => {
        if (isSignalled) process.exit(130)
        isSignalled = true
        resolve(signal)
      })
    }
  })
}
