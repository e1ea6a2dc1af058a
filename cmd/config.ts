// stackroom config check | print: what the configuration is, before a server depends on it.
import { Command } from 'commander'
import { stringify } from 'yaml'
import { type Effective, effectiveConfig, loadConfig } from '../lib/config/config.ts'
import { Invalid } from '../lib/errors.ts'

type Flags = { config?: string; effective?: boolean }

export function configCommand(): Command {
  const command = new Command('config').description('check or print the configuration')
  command
    .command('check')
    .description('exit with 0 when the configuration is valid, else say why and exit with 2')
    .option('-c, --config <file>', 'YAML file')
    .action(check)
  command
    .command('print')
    .description('print a configuration file with all defaults')
    .option('-c, --config <file>', 'YAML file')
    .option('-e, --effective', 'print the values that hold and their origin instead')
    .action(print)
  return command
}

function check({ config }: Flags): void {
  try {
    loadConfig({ file: config })
    process.stdout.write('The configuration is valid.\n')
  } catch (error) {
    if (!(error instanceof Invalid)) throw error
    process.stderr.write(`${error.message}\n`)
    process.exitCode = 2
  }
}

function print({ config, effective }: Flags): void {
  const keys = effectiveConfig(effective ? loadConfig({ file: config }) : loadConfig({ env: {} }))
  process.stdout.write(toYaml(keys, key => (effective ? key.origin : meaning(key))))
}

const meaning = ({ description, reloads }: Effective) =>
  reloads ? `${description} SIGHUP reloads it.` : description

function toYaml(keys: Effective[], note: (key: Effective) => string): string {
  let section = ''
  let text = ''
  for (const key of keys) {
    const [first, name] = key.path.split('.') as [string, string?]
    if (name !== undefined && first !== section) {
      section = first
      text += `${section}:\n`
    }
    text += `${name === undefined ? first : `  ${name}`}: ${stringify(key.value).trim()} # ${note(key)}\n`
  }
  return text
}
