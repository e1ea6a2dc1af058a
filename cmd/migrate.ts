// `stackroom migrate`: applies pending database migrations.
import { Command } from 'commander'
import { type CommonFlags, commonOptions, withContext } from './context.ts'

export function migrateCommand(): Command {
  return commonOptions(new Command('migrate'))
    .description('apply pending database migrations and exit')
    .action((flags: CommonFlags) =>
      withContext(flags, { quiet: false, dataDirectory: 'unused' }, async () => {}),
    )
}
