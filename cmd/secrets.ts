// `stackroom secrets`: the keys that encrypt the secrets in the database.
import { Command } from 'commander'
import { openSecrets } from '../lib/store/secret/secrets.ts'
import { rotateSecrets } from '../lib/store/secret/stored.ts'
import { type CommonFlags, type Context, commonOptions, withContext } from './context.ts'

export function secretsCommand(): Command {
  const command = new Command('secrets').description(
    'manage the key that encrypts secrets in the database',
  )
  commonOptions(command.command('rotate'))
    .description(
      'reencrypt the secrets in the database with a new key, and remove the old key from the key file',
    )
    .addHelpText(
      'after',
      '\nServers and workers continue to run. If it is interrupted, run it again.\nHosts that have a copy of the key file need the new one.\nExit codes: 0 success, 2 cannot run.',
    )
    .action((flags: CommonFlags) => withContext(flags, { quiet: true }, rotate))
  return command
}

async function rotate({ sql, config }: Context): Promise<void> {
  const secrets = openSecrets(config)
  const { sources } = await rotateSecrets(sql, secrets)
  process.stdout.write(`The secrets are now encrypted with a new key, in ${secrets.file}\n`)
  if (sources.length > 0)
    process.stdout.write(`Credentials that could not be read: ${sources.join(', ')}\n`)
}
