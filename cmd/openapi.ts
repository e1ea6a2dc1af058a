// `stackroom openapi`: prints the API description as an OpenAPI document; needs no database.
import { writeFileSync } from 'node:fs'
import { Command, Option } from 'commander'
import { stringify } from 'yaml'
import { resources } from '../lib/api/resources.ts'
import { openapiDocument } from '../lib/http/openapi.ts'
import { version } from '../lib/version.ts'

export function openapiCommand(): Command {
  return new Command('openapi')
    .description('print the OpenAPI document of the API')
    .option('-o, --output <file>', 'output file, - for standard output', '-')
    .addOption(
      new Option('-f, --format <format>', 'output format')
        .choices(['json', 'yaml'])
        .default('json'),
    )
    .action(({ output, format }: { output: string; format: 'json' | 'yaml' }) => {
      const document = openapiDocument(resources, version)
      const text =
        format === 'yaml'
          ? stringify(document, { aliasDuplicateObjects: false })
          : `${JSON.stringify(document, null, 2)}\n`
      if (output === '-') process.stdout.write(text)
      else writeFileSync(output, text)
    })
}
