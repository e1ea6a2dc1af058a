// Client generation from the OpenAPI document: every operation must survive in every generator.
// Needs npm and python3 with venv; the generators are downloaded into a temporary folder.
import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { resources } from '../lib/api/resources.ts'
import { openapiDocument } from '../lib/http/openapi/openapi.ts'
import { print } from './kit/stackroom.ts'

const methods = new Set(['get', 'put', 'post', 'patch', 'delete', 'head', 'options'])
const folder = mkdtempSync(join(tmpdir(), 'stackroom-clients-'))
const file = join(folder, 'openapi.json')

const generators = {
  'openapi-typescript': typescriptTypes,
  'hey-api': heyApi,
  'openapi-python-client': pythonClient,
}

try {
  const document = openapiDocument(resources, '0')
  writeFileSync(file, JSON.stringify(document))
  const operations = Object.values(
    document.paths as Record<string, Record<string, object>>,
  ).flatMap(path => Object.keys(path).filter(method => methods.has(method))).length
  for (const [name, generate] of Object.entries(generators)) {
    const { count, warnings } = generate()
    if (count !== operations) process.exitCode = 1
    print({ generator: name, operations, generated: count, dropped: warnings })
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
}

function typescriptTypes() {
  const output = join(folder, 'types.d.ts')
  run('npx', ['openapi-typescript', file, '--output', output])
  const block = readFileSync(output, 'utf8').split('export interface operations {')[1] ?? ''
  return { count: block.match(/^ {4}[A-Za-z]\w*: \{$/gm)?.length ?? 0, warnings: [] }
}

function heyApi() {
  const output = join(folder, 'hey-api')
  const packages = ['-p', 'typescript@5.9.3', '-p', '@hey-api/openapi-ts@0.99.0']
  run('npx', ['--yes', ...packages, 'openapi-ts', '--input', file, '--output', output])
  const client = readFileSync(join(output, 'sdk.gen.ts'), 'utf8')
  return { count: client.match(/^export const \w+ = </gm)?.length ?? 0, warnings: [] }
}

function pythonClient() {
  const environment = join(folder, 'venv')
  run('python3', ['-m', 'venv', environment])
  run(join(environment, 'bin', 'pip'), [
    'install',
    '--quiet',
    'openapi-python-client==0.29.1',
    'ruff',
  ])
  const output = join(folder, 'python')
  const generate = ['generate', '--path', file, '--output-path', output, '--meta', 'none']
  const log = run(join(environment, 'bin', 'openapi-python-client'), generate)
  const api = join(output, 'api')
  const modules = existsSync(api) ? readdirSync(api, { recursive: true, encoding: 'utf8' }) : []
  const count = modules.filter(name => name.endsWith('.py') && !name.endsWith('__init__.py')).length
  return { count, warnings: log.split('\n').filter(line => line.includes('will not be generated')) }
}

/** Standard output and error of a command. */
function run(command: string, args: string[]): string {
  const shell = `PATH="${join(folder, 'venv', 'bin')}:$PATH" exec "$0" "$@" 2>&1`
  return execFileSync('sh', ['-c', shell, command, ...args], {
    encoding: 'utf8',
    maxBuffer: 2 ** 26,
  })
}
