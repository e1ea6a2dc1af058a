// `stackroom openapi`: prints the API description as an OpenAPI document; needs no database.
import { writeFileSync } from 'node:fs'
import { Command, Option } from 'commander'
import { Document, visit } from 'yaml'
import { resources } from '../lib/api/resources.ts'
import { Invalid } from '../lib/base/errors.ts'
import { version } from '../lib/base/version.ts'
import { openapiDocument } from '../lib/http/openapi/openapi.ts'

/** Quotes text that YAML 1.1 parsers would not read as a string: `off`, `y` and `12:30`. */
function yamlText(value: unknown): string {
  const document = new Document(value, { aliasDuplicateObjects: false })
  visit(document, {
    Scalar(_key, node) {
      if (typeof node.value === 'string' && !isPlainText(node.value)) node.type = 'QUOTE_DOUBLE'
    },
  })
  return document.toString({ lineWidth: 0 })
}

// Words that YAML 1.1 (https://yaml.org/type/) reads as a boolean or null; dates, numbers with underscores
// and base 60 start with a digit, a sign or a point.
const typedWords = /^(?:y|n|yes|no|on|off|true|false|null|~|)$/i
const isPlainText = (text: string) => !typedWords.test(text) && !/^[-+.\d=<]/.test(text)

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
      const text = format === 'yaml' ? yamlText(document) : `${JSON.stringify(document, null, 2)}\n`
      if (output === '-') process.stdout.write(text)
      else writeDocument(output, text)
    })
}

function writeDocument(path: string, text: string) {
  try {
    writeFileSync(path, text)
  } catch (error) {
    throw new Invalid(`${path} cannot be written (${(error as NodeJS.ErrnoException).code})`)
  }
}
