// Clients of openapi-python-client, with classes or literals for enumerations; every module is imported.
import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Generator, run } from './generator.ts'

const packages = ['openapi-python-client==0.29.1', 'ruff', 'mypy']

/** The interpreter of an environment with the packages. */
export async function pythonWith(folder: string, names: readonly string[]): Promise<string> {
  const environment = join(folder, 'venv')
  if (!existsSync(environment)) await run('python3', ['-m', 'venv', environment])
  const bin = join(environment, 'bin')
  await run(join(bin, 'pip'), ['install', '--quiet', '--disable-pip-version-check', ...names])
  return bin
}

export function pythonClient({ literalEnums }: { literalEnums: boolean }): Generator {
  const name = literalEnums ? 'openapi-python-client literal_enums' : 'openapi-python-client'
  const client = literalEnums ? 'literal_client' : 'class_client'
  return {
    name,
    async generate({ folder, document }) {
      const bin = await pythonWith(folder, packages)
      const config = join(folder, `${client}.yaml`)
      writeFileSync(config, `literal_enums: ${literalEnums}\n`)
      const log = await run(
        join(bin, 'openapi-python-client'),
        [
          ...['generate', '--path', document, '--output-path', join(folder, client)],
          ...['--meta', 'none', '--config', config],
        ],
        { env: { PATH: bin, COLUMNS: '500' }, isExpectedToFail: true },
      )
      const api = join(folder, client, 'api')
      const modules = existsSync(api) ? readdirSync(api, { recursive: true, encoding: 'utf8' }) : []
      const files = modules.filter(file => file.endsWith('.py') && !file.endsWith('__init__.py'))
      return { generated: files.length, dropped: log.split('\n').filter(isLoss) }
    },
    async compile(folder) {
      const bin = join(folder, 'venv', 'bin')
      const program = join(folder, `${client}_modules.py`)
      writeFileSync(program, importAll(client))
      const imports = await run(join(bin, 'python'), [program], { cwd: folder })
      const types = await run(join(bin, 'mypy'), ['--no-error-summary', client], {
        cwd: folder,
        isExpectedToFail: true,
      })
      // `client.py` is of the generator alone, and does not depend on the document.
      const isOurs = (line: string) => line !== '' && !line.startsWith(join(client, 'client.py'))
      return [...imports.split('\n'), ...types.split('\n')].filter(isOurs)
    },
    async call(folder, options) {
      const program = join(folder, `call_${client}.py`)
      writeFileSync(program, calls(client, literalEnums))
      const python = join(folder, 'venv', 'bin', 'python')
      return JSON.parse(await run(python, [program, ...options], { cwd: folder }))
    },
  }
}

// The generator has no type for responses of other media, such as images; their operations are there all the same.
const isLoss = (line: string) =>
  /will not be generated|Unable to process|Duplicate|Traceback|Error/.test(line)

const importAll = (client: string) => `
import importlib, pkgutil, ${client}
for module in pkgutil.walk_packages(${client}.__path__, "${client}."):
    importlib.import_module(module.name)
`

const calls = (client: string, literalEnums: boolean) => `
import json, sys
from ${client} import AuthenticatedClient
from ${client}.api.books import filter_books, get_book
from ${client}.api.collections import create_collection, delete_collection
from ${client}.models import *

client = AuthenticatedClient(sys.argv[1], sys.argv[2], auth_header_name="X-API-Key", prefix="")
contains = ${literalEnums ? '"contains"' : 'TextPartTestOperator.CONTAINS'}
order = ${literalEnums ? '"title,desc"' : 'FilterBooksSort("title,desc")'}
books = filter_books.sync(
    client=client,
    body=BookFilter(condition=BookCondition(title=TextPartTest(operator=contains, value="a"))),
    sort=order,
    page_size=2,
)
collection = create_collection.sync(client=client, body=CollectionCreate(name="Favorites"))
delete_collection.sync_detailed(collection.id, client=client)
missing = get_book.sync_detailed("00000000-0000-0000-0000-000000000000", client=client)
print(json.dumps({
    "titles": [book.title for book in books.data],
    "collection": {"name": collection.name, "seriesCount": collection.series_count},
    "missing": missing.status_code.value,
}))
`
