// Build of the web application: TypeScript modules without types, packages from npm, styles and texts, below an
// address with the digest of all of them, and compressed. There is no bundler: browsers load the modules.
import { hash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { stripTypeScriptTypes } from 'node:module'
import { extname, join, relative, sep } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { init, parse } from 'es-module-lexer'
import { appFolder, entryModule, serviceWorkerFile } from './sources.ts'

/** A file as it is served. Formats that are compressed already have the same bytes as `plain` alone. */
export type Asset = {
  type: string
  etag: string
  plain: Uint8Array
  gzip: Uint8Array | null
  brotli: Uint8Array | null
}

export type Build = {
  /** Digest of all files, which is part of their addresses. */
  digest: string
  /** By path below the folder of the build, such as `main.js`. */
  assets: Map<string, Asset>
  /** Modules that the entry module imports statically, itself included: all are needed for the first view. */
  initialModules: string[]
  serviceWorker: Asset
}

const mediaTypes: Record<string, string> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.svg': 'image/svg+xml; charset=utf-8',
  '.png': 'image/png',
}

/** Where packages from npm are served. */
const packagesFolder = 'packages'

/** Reads and transforms all files. Throws what the file system and the parsers throw. */
export async function buildApp(): Promise<Build> {
  await init()
  const texts = new Map<string, string | Buffer>()
  const packages = new Map<string, string>()
  for (const path of await appFiles()) {
    const content = await readFile(join(appFolder, path))
    if (extname(path) !== '.ts') texts.set(path, transformed(path, content))
    else {
      const code = stripTypeScriptTypes(content.toString())
      const file = pathToFileURL(join(appFolder, path)).href
      texts.set(scriptPath(path), rewriteImports(code, { path, file, packages }))
    }
  }
  // Grows while it is walked: packages import packages.
  for (const [file, path] of packages) {
    const code = withoutSourceMap(await readFile(fileURLToPath(file), 'utf8'))
    texts.set(path, rewriteImports(code, { path, file, packages }))
  }
  const digest = digestOf(texts)
  const assets = new Map<string, Asset>()
  // One at a time: an encoder takes some megabytes, which the process would retain.
  for (const [path, text] of texts) assets.set(path, await asset(path, text))
  const initialModules = await importedModules(texts, scriptPath(entryModule))
  const worker = await serviceWorker(digest, [...assets.keys()])
  return { digest, assets, initialModules, serviceWorker: worker }
}

async function appFiles(): Promise<string[]> {
  const entries = await readdir(appFolder, { recursive: true, withFileTypes: true })
  return entries
    .filter(entry => entry.isFile() && !/(?:\.d\.ts|^tsconfig\.json)$/.test(entry.name))
    .map(entry => relative(appFolder, join(entry.parentPath, entry.name)).split(sep).join('/'))
    .sort()
}

const scriptPath = (path: string) => path.replace(/\.ts$/, '.js')

function transformed(path: string, content: Buffer): string | Buffer {
  if (path.endsWith('.json')) return JSON.stringify(JSON.parse(content.toString()))
  return path.endsWith('.css') ? content.toString() : content
}

const withoutSourceMap = (code: string) => code.replace(/^\/\/# sourceMappingURL=.*$/m, '')

type Module = {
  path: string
  /** URL of the source. */
  file: string
  /** Served paths by URL; what is imported and missing is added. */
  packages: Map<string, string>
}

/** Gives imports the addresses under which the modules are served, relative to the importing one. */
function rewriteImports(code: string, { path, file, packages }: Module): string {
  const up = '../'.repeat(path.split('/').length - 1) || './'
  let result = ''
  let end = 0
  for (const { specifier, start, end: after } of parse(code)[0]) {
    if (specifier == null) continue
    const target = servedSpecifier(specifier, { file, packages, up })
    // That of a dynamic import may include the quotes.
    const isQuoted = /['"`]/.test(code[start]!)
    result += code.slice(end, start) + (isQuoted ? `'${target}'` : target)
    end = after
  }
  return result + code.slice(end)
}

function servedSpecifier(
  specifier: string,
  { file, packages, up }: Pick<Module, 'file' | 'packages'> & { up: string },
): string {
  if (specifier.startsWith('.') && !file.includes('/node_modules/')) return scriptPath(specifier)
  const source = specifier.startsWith('.')
    ? new URL(specifier, file).href
    : import.meta.resolve(specifier)
  if (!packages.has(source)) packages.set(source, packagePath(source))
  return up + packages.get(source)
}

/** `…/node_modules/preact/dist/preact.mjs` becomes `packages/preact/dist/preact.js`. */
function packagePath(source: string): string {
  const path = source.slice(source.lastIndexOf('/node_modules/') + '/node_modules/'.length)
  return `${packagesFolder}/${path.replace(/\.mjs$/, '.js')}`
}

async function importedModules(texts: Map<string, string | Buffer>, entry: string) {
  const found = new Set([entry])
  for (const path of found)
    for (const { specifier, type } of parse(String(texts.get(path)))[0])
      if (specifier != null && type !== 'dynamic')
        found.add(new URL(specifier, `http://build/${path}`).pathname.slice(1))
  return [...found]
}

function digestOf(texts: Map<string, string | Buffer>): string {
  const parts = [...texts].map(([path, text]) => `${path}\n${hash('sha256', text)}\n`)
  return hash('sha256', parts.sort().join('')).slice(0, 16)
}

/** The service worker is at a fixed address, so that browsers find a new one; it contains the digest. */
async function serviceWorker(digest: string, paths: string[]): Promise<Asset> {
  const code = stripTypeScriptTypes(await readFile(serviceWorkerFile, 'utf8'))
  const values = `const build = ${JSON.stringify({ digest, paths })}\n`
  return await asset('service-worker.js', values + code)
}

/** Smallest window that covers the file, as Brotli counts it (RFC 7932, 9.1). */
const windowBits = (length: number) => Math.min(Math.max(Math.ceil(Math.log2(length + 16)), 10), 22)

const compressBrotli = promisify(brotliCompress)
const compressGzip = promisify(gzip)

async function asset(path: string, text: string | Buffer): Promise<Asset> {
  const extension = extname(path)
  const type = mediaTypes[extension]
  if (type === undefined) throw new Error(`No media type for ${path}`)
  const plain = Buffer.from(text)
  const common = { type, plain, etag: `"${hash('sha256', plain, 'base64url').slice(0, 22)}"` }
  if (extension === '.png') return { ...common, gzip: null, brotli: null }
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: 9,
    [constants.BROTLI_PARAM_SIZE_HINT]: plain.length,
    // Clearing the default window of 4 MB for each file took more than half of the build.
    [constants.BROTLI_PARAM_LGWIN]: windowBits(plain.length),
  }
  const [brotli, gzip] = await Promise.all([
    compressBrotli(plain, { params }),
    compressGzip(plain, { level: 9 }),
  ])
  return { ...common, gzip, brotli }
}
