// What every command that works on the catalogue needs: configuration, log, database at its newest
// schema. Closed again when the command is done.
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

export type Stackroom = { config: Config; log: Log; sql: Sql }

/** The options that all of these commands share. */
export function commonOptions(command: Command): Command {
  return command
    .option('-c, --config <file>', 'YAML file')
    .option('-d, --data <directory>', 'data directory (default: ./data)')
    .option('--database-url <url>', 'a PostgreSQL of your own, 14 or newer')
    .option('--log-level <level>', 'trace, debug, info, warn, error or silent')
}

/** Runs `work` on an open catalogue. `quiet` logs warnings only, unless the user asked for more. */
export async function withStackroom<T>(
  flags: CommonFlags,
  options: { quiet: boolean; settings?: Record<string, unknown> },
  work: (stackroom: Stackroom) => Promise<T>,
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

/** Resolves at the first SIGINT or SIGTERM; a second one ends the process at once. */
export function untilSignal(): Promise<NodeJS.Signals> {
  return new Promise(resolve => {
    let asked = false
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      process.on(signal, () => {
        if (asked) process.exit(130)
        asked = true
        resolve(signal)
      })
    }
  })
}
