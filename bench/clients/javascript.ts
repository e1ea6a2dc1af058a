// Clients in TypeScript, compiled under strict rules together with a program that calls a server by them.
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Generator, run } from './generator.ts'
import { pythonWith } from './python.ts'

const root = join(import.meta.dirname, '..', '..')
const compiler = join(root, 'node_modules', 'typescript-7', 'bin', 'tsc')

type Client = Pick<Generator, 'name' | 'generate'> & { folder: string; program: string }

/** `program`: expressions of the titles, of the collection, and of the status of a book that does not exist. */
function typescriptClient({ name, generate, folder: own, program }: Client): Generator {
  return {
    name,
    generate,
    async compile(folder) {
      const client = join(folder, own)
      const compilerOptions = {
        ...{ target: 'es2022', module: 'commonjs', moduleResolution: 'bundler', strict: true },
        ...{ lib: ['es2022', 'dom', 'dom.iterable'], types: [], outDir: 'compiled', rootDir: '.' },
      }
      writeFileSync(join(client, 'tsconfig.json'), JSON.stringify({ compilerOptions }))
      writeFileSync(join(client, 'call.ts'), program)
      const log = await run(process.execPath, [compiler, '-p', client], { isExpectedToFail: true })
      return log.split('\n').filter(line => line !== '')
    },
    async call(folder, options) {
      const program = join(folder, own, 'compiled', 'call.js')
      return JSON.parse(await run(process.execPath, [program, ...options]))
    },
  }
}

const start = `
declare const process: { argv: string[] }
const [, , base = '', key = ''] = process.argv
const condition = { title: { operator: 'contains', value: 'a' } } as const
const name = 'Favorites'
const none = '00000000-0000-0000-0000-000000000000'
const print = (titles: string[], collection: { name: string; seriesCount: number | null }, missing: unknown) =>
  console.log(JSON.stringify({
    titles, collection: { name: collection.name, seriesCount: collection.seriesCount }, missing,
  }))
`

export const typescriptFetch = typescriptClient({
  name: 'openapi-generator typescript-fetch',
  folder: 'typescript-fetch',
  async generate({ folder, document }) {
    const bin = await pythonWith(folder, ['openapi-generator-cli==7.26.0'])
    const output = join(folder, 'typescript-fetch')
    const options = ['generate', '-i', document, '-g', 'typescript-fetch', '-o', output]
    const log = await run(join(bin, 'openapi-generator-cli'), options)
    const apis = readdirSync(join(output, 'apis')).map(file =>
      readFileSync(join(output, 'apis', file), 'utf8'),
    )
    // Each operation also has a method for the unread response.
    const methods = apis.join('\n').match(/^ {4}async \w+Raw\(/gm) ?? []
    return {
      generated: methods.length,
      dropped: log.split('\n').filter(line => /ERROR|cannot be used|already been used/.test(line)),
    }
  },
  program: `
import { BooksApi, CollectionsApi, Configuration, ResponseError } from './index'
${start}
async function main() {
  const configuration = new Configuration({ basePath: base, apiKey: key })
  const books = new BooksApi(configuration)
  const collections = new CollectionsApi(configuration)
  const { data } = await books.filterBooks({ sort: 'title,desc', pageSize: 2, bookFilter: { condition } })
  const collection = await collections.createCollection({ collectionCreate: { name } })
  await collections.deleteCollection({ id: collection.id })
  const missing = await books.getBook({ id: none }).then(
    () => 200, (error: ResponseError) => error.response.status)
  print(data.map(book => book.title), collection, missing)
}
main()
`,
})

export const heyApi = typescriptClient({
  name: 'hey-api',
  folder: 'hey-api',
  async generate({ folder, document }) {
    const output = join(folder, 'hey-api')
    const tool = await installed(folder, ['typescript@5.9.3', '@hey-api/openapi-ts@0.99.0'])
    await run(tool('openapi-ts'), ['--input', document, '--output', output])
    return {
      generated: countOf(join(output, 'sdk.gen.ts'), /^export const \w+ = </gm),
      dropped: [],
    }
  },
  program: `
import { createCollection, deleteCollection, filterBooks, getBook } from './index'
import { client } from './client.gen'
${start}
async function main() {
  client.setConfig({ baseUrl: base, auth: ({ name }) => name === 'X-API-Key' ? key : undefined })
  const books = await filterBooks({ query: { sort: 'title,desc', pageSize: 2 }, body: { condition } })
  const collection = await createCollection({ body: { name } })
  await deleteCollection({ path: { id: collection.data!.id } })
  const missing = await getBook({ path: { id: none } })
  print(books.data!.data.map(book => book.title), collection.data!, missing.response!.status)
}
main()
`,
})

export const swaggerTypescript = typescriptClient({
  name: 'swagger-typescript-api',
  folder: 'swagger-typescript-api',
  async generate({ folder, document }) {
    const output = join(folder, 'swagger-typescript-api')
    const tool = await installed(folder, ['typescript@5.9.3', 'swagger-typescript-api@13.13.0'])
    const options = ['generate', '--path', document, '--output', output, '--name', 'api.ts']
    await run(tool('swagger-typescript-api'), options)
    return { generated: countOf(join(output, 'api.ts'), /this\.request</g), dropped: [] }
  },
  program: `
import { Api, type HttpResponse } from './api'
${start}
async function main() {
  const { api } = new Api({
    baseUrl: base, baseApiParams: { format: 'json', secure: true },
    securityWorker: () => ({ headers: { 'X-API-Key': key } }),
  })
  const books = await api.filterBooks({ sort: 'title,desc', pageSize: 2 }, { condition })
  const collection = await api.createCollection({ name })
  await api.deleteCollection(collection.data.id)
  const missing = await api.getBook(none).then(
    () => 200, (response: HttpResponse<unknown>) => response.status)
  print(books.data.data.map(book => book.title), collection.data, missing)
}
main()
`,
})

export const openapiTypescript: Generator = {
  name: 'openapi-typescript',
  async generate({ folder, document }) {
    const output = join(folder, 'openapi-typescript')
    mkdirSync(output, { recursive: true })
    const tool = join(root, 'node_modules', '.bin', 'openapi-typescript')
    await run(tool, [document, '--output', join(output, 'schema.ts')])
    const [, block = ''] = readFileSync(join(output, 'schema.ts'), 'utf8').split(
      'export interface operations {',
    )
    return { generated: block.match(/^ {4}[A-Za-z]\w*: \{$/gm)?.length ?? 0, dropped: [] }
  },
  async compile(folder) {
    const file = join(folder, 'openapi-typescript', 'schema.ts')
    const options = [compiler, '--ignoreConfig', '--noEmit', '--strict', file]
    const log = await run(process.execPath, options, { isExpectedToFail: true })
    return log.split('\n').filter(line => line !== '')
  },
}

const countOf = (file: string, pattern: RegExp) =>
  readFileSync(file, 'utf8').match(pattern)?.length ?? 0

/** The programs of npm packages, installed beside each other. */
async function installed(folder: string, packages: string[]) {
  const cwd = join(folder, 'npm')
  mkdirSync(cwd, { recursive: true })
  const manifest = join(cwd, 'package.json')
  if (!existsSync(manifest)) writeFileSync(manifest, '{ "private": true }\n')
  await run('npm', ['install', '--no-audit', '--no-fund', ...packages], { cwd })
  return (name: string) => join(cwd, 'node_modules', '.bin', name)
}
