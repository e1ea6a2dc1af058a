// stackroom openapi: prints the routes as an OpenAPI document; needs no database.
import { writeFileSync } from 'node:fs'
import { Command, Option } from 'commander'
import { stringify } from 'yaml'
import { resources } from '../lib/api/resources.ts'
import { openapiDocument } from '../lib/http/openapi.ts'
import { version } from '../lib/version.ts'

export function openapiCommand(): Command {
  return new Command('openapi')
    .description('print the description of the API')
    .option('-o, --output <file>', 'file to write, - for standard output', '-')
    .addOption(new Option('-f, --format <format>').choices(['json', 'yaml']).default('json'))
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
