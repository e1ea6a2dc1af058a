// `npm test`: all tests (test/all.ts), or the files given. Other options are passed to tap, for example
// `npm test -- test/catalog/book/routes/books.test.ts --reporter=tap`; `--coverage` prints a coverage table.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

const root = join(import.meta.dirname, '..')
const cache = join(root, 'node_modules', '.cache', 'stackroom-tests')
const tapPackage = createRequire(import.meta.url).resolve('tap/package.json')
const withCoverage = process.argv.includes('--coverage')
const options = process.argv.slice(2).filter(argument => argument !== '--coverage')

const env = {
  // Every process of the tests loads the same sources.
  NODE_COMPILE_CACHE: join(cache, 'compiled'),
  ...process.env,
  // Also for the process that tap runs before the tests, which `--disable-coverage` does not reach.
  ...(withCoverage ? {} : { _TAPJS_PROCESSINFO_COVERAGE_: '0' }),
}

function tap(...args: string[]): number {
  const argv = [join(dirname(tapPackage), 'dist', 'esm', 'run.mjs'), ...args]
  return spawnSync(process.execPath, argv, { cwd: root, env, stdio: 'inherit' }).status ?? 1
}

/** Builds tap with the plugins of package.json: the first run would start with its default plugins. */
function buildPlugins(): boolean {
  const versions = readFileSync(join(root, 'package.json')) + readFileSync(tapPackage, 'utf8')
  const marker = join(cache, `plugins-${createHash('sha256').update(versions).digest('hex')}`)
  if (existsSync(marker)) return true
  if (tap('build') !== 0) return false
  mkdirSync(cache, { recursive: true })
  writeFileSync(marker, '')
  return true
}

process.exitCode = buildPlugins()
  ? tap(...(withCoverage ? [] : ['--disable-coverage']), ...options)
  : 1
