// stackroom migrate: brings the database up to date and ends.
import { Command } from 'commander'
import { loadConfig } from '../lib/config/config.ts'
import { openLog } from '../lib/log.ts'
import { openDatabase } from '../lib/postgres/db.ts'
import { migrate } from '../lib/postgres/migrate.ts'

type Flags = { config?: string; data?: string; databaseUrl?: string }

export function migrateCommand(): Command {
  return new Command('migrate')
    .description('bring the database up to date and end')
    .option('-c, --config <file>', 'YAML file')
    .option('-d, --data <directory>', 'data directory')
    .option('--database-url <url>', 'a PostgreSQL of your own')
    .action(run)
}

async function run({ config: file, data, databaseUrl }: Flags): Promise<void> {
  const flags = { data_dir: data, 'database.url': databaseUrl }
  const config = loadConfig({ file, flags })
  const log = openLog(config.logging)
  const database = await openDatabase(config, { log })
  try {
    for (const { number, name, ms } of await migrate(database.sql)) {
      log.info({ number, name, ms }, 'migration applied')
    }
  } finally {
    await database.close()
  }
}
