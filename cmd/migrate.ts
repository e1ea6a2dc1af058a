// `stackroom migrate`: applies pending database migrations.
import { Command } from 'commander'
import { loadConfig } from '../lib/config/config.ts'
import { openLog } from '../lib/log.ts'
import { openDatabase } from '../lib/postgres/db.ts'
import { migrate } from '../lib/postgres/migrate.ts'

type Flags = { config?: string; data?: string; databaseUrl?: string }

export function migrateCommand(): Command {
  return new Command('migrate')
    .description('apply pending database migrations and exit')
    .option('-c, --config <file>', 'configuration file (YAML)')
    .option('-d, --data <directory>', 'data directory')
    .option('--database-url <url>', 'connect to an external PostgreSQL (14 or newer)')
    .action(run)
}

async function run({ config: file, data, databaseUrl }: Flags): Promise<void> {
  const flags = { data_dir: data, 'database.url': databaseUrl }
  const config = loadConfig({ file, flags })
  const log = openLog(config.logging)
  const database = await openDatabase(config, { log })
  try {
    for (const { number, name, ms } of await migrate(database.sql, undefined, database)) {
      log.info({ number, name, ms }, 'migration applied')
    }
  } finally {
    await database.close()
  }
}
