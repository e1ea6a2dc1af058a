// `stackroom config`: validates and prints the configuration and its reference.
import { Command } from 'commander'
import { stringify } from 'yaml'
import { Invalid } from '../lib/base/errors.ts'
import { type EffectiveValue, effectiveConfig, loadConfig } from '../lib/store/config/config.ts'
import { configurationReference } from '../lib/store/config/reference.ts'

type Flags = { config?: string; effective?: boolean }

export function configCommand(): Command {
  const command = new Command('config').description('check or print the configuration')
  command
    .command('check')
    .description('validate the configuration; exits with 2 if it is invalid')
    .option('-c, --config <file>', 'configuration file (YAML)')
    .action(check)
  command
    .command('print')
    .description('print a configuration file with all defaults and the scope of each key')
    .option('-c, --config <file>', 'configuration file (YAML)')
    .option('-e, --effective', 'print the values in effect and their origin instead')
    .action(print)
  command
    .command('reference')
    .description('print a reference of all keys and settings as Markdown')
    .action(() => void process.stdout.write(configurationReference()))
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
  const values = effectiveConfig(effective ? loadConfig({ file: config }) : loadConfig({ env: {} }))
  process.stdout.write(
    toYaml(values, ({ scope, origin, description }) =>
      effective ? `[${scope}] ${origin}` : `[${scope}] ${description}`,
    ),
  )
}

function toYaml(values: EffectiveValue[], comment: (value: EffectiveValue) => string): string {
  let currentSection = ''
  let text = ''
  for (const value of values) {
    const [section, name] = value.path.split('.') as [string, string?]
    if (name !== undefined && section !== currentSection) {
      currentSection = section
      text += `${section}:\n`
    }
    const key = name === undefined ? section : `  ${name}`
    text += `${key}: ${stringify(value.value).trim()} # ${comment(value)}\n`
  }
  return text
}
