// Stored build of the web application, so that only the first start after a change of its sources builds it.

import { execFile } from 'node:child_process'
import { hash, randomUUID } from 'node:crypto'
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'
import { promisify } from 'node:util'
import { deserialize } from 'node:v8'
import { Unavailable } from '../base/errors.ts'
import { compiledFolder, isCompiled, packageFolder, programFile } from '../base/package.ts'
import { cacheHealth, mountKey } from '../store/mount/mount-health.ts'
import type { Build } from './build.ts'

export type BuildCache = {
  folder: string
  /** Called when a build cannot be stored; it is served anyway. */
  onUnstored(error: unknown): void
}

const execute = promisify(execFile)
const maxBuildBytes = 64 * 1024 * 1024
// Stripping types is experimental in Node.
const nodeOptions = ['--disable-warning=ExperimentalWarning']

/** The build included in an npm package. */
const packagedFile = join(compiledFolder, 'web.build')
const sourceFolder = join(packageFolder, 'lib', 'web')

/**
 * The build of the current sources: included in the package, stored in the cache, or new. Throws Unavailable
 * if the package is damaged, or if packages that build it are missing.
 */
export async function currentBuild({ folder, onUnstored }: BuildCache): Promise<Build> {
  if (isCompiled) return await packagedBuild()
  const name = await buildName()
  // If the disk does not respond, it is built for this process only.
  const root = mountKey(Buffer.from(folder))
  const read = () => readStored(join(folder, name))
  const stored = await cacheHealth.run(root, read).catch(() => null)
  if (stored) return stored
  const built = await buildInProcess()
  await cacheHealth.run(root, () => store(folder, name, built)).catch(onUnstored)
  return deserialize(built)
}

async function packagedBuild(): Promise<Build> {
  const build = await readStored(packagedFile)
  if (build === null)
    throw new Unavailable(
      'The web application in this package is missing or damaged: install Stackroom again',
    )
  return build
}

/** The build of the current sources as `currentBuild` reads it from an npm package. */
export async function buildForPackage(): Promise<Buffer> {
  const build = await buildInProcess()
  return Buffer.concat([digestOf(build), build])
}

/** Changes with the contents of the sources and with the versions of the packages. */
async function buildName(): Promise<string> {
  const entries = await readdir(sourceFolder, { recursive: true, withFileTypes: true })
  const files = entries
    .filter(entry => entry.isFile())
    .map(entry => join(entry.parentPath, entry.name))
  const { devDependencies } = JSON.parse(
    await readFile(join(packageFolder, 'package.json'), 'utf8'),
  )
  const lines = await Promise.all(
    files.map(async file => {
      const path = relative(sourceFolder, file).split(sep).join('/')
      return `${path} ${hash('sha256', await readFile(file))}`
    }),
  )
  return `${hash('sha256', [JSON.stringify(devDependencies), ...lines.sort()].join('\n')).slice(0, 32)}.build`
}

const digestLength = 32
const abandonedMs = 3_600_000
const digestOf = (content: Buffer): Buffer => hash('sha256', content, 'buffer')

async function readStored(file: string): Promise<Build | null> {
  try {
    const bytes = await readFile(file)
    // After a crash of the machine, parts of it may be empty.
    const content = bytes.subarray(digestLength)
    return digestOf(content).equals(bytes.subarray(0, digestLength)) ? deserialize(content) : null
  } catch {
    return null
  }
}

async function store(folder: string, name: string, build: Buffer): Promise<void> {
  await mkdir(folder, { recursive: true })
  const unfinished = join(folder, `${randomUUID()}.unfinished`)
  try {
    await writeFile(unfinished, [digestOf(build), build])
    await rename(unfinished, join(folder, name))
  } finally {
    await rm(unfinished, { force: true })
  }
  for (const other of await readdir(folder)) {
    const file = join(folder, other)
    const isOld = other.endsWith('.build') ? other !== name : await isAbandoned(file)
    if (isOld) await rm(file, { force: true })
  }
}

/** Whether it is left from a process that was killed while writing. */
async function isAbandoned(file: string): Promise<boolean> {
  if (!file.endsWith('.unfinished')) return false
  // Another process may have renamed it.
  const stats = await stat(file).catch(() => null)
  return stats !== null && Date.now() - stats.mtimeMs > abandonedMs
}

async function buildInProcess(): Promise<Buffer> {
  const file = programFile('lib/web/build-process')
  const options = { encoding: 'buffer', maxBuffer: maxBuildBytes, windowsHide: true } as const
  try {
    const { stdout } = await execute(process.execPath, [...nodeOptions, file], options)
    return stdout
  } catch (error) {
    const missing = missingPackage(String((error as { stderr?: Buffer }).stderr))
    if (missing === undefined) throw error
    throw new Unavailable(
      `The web application cannot be built without the package ${missing}: ` +
        'run npm ci --include=dev --include=optional',
    )
  }
}

/** Named by Node.js, by esbuild without its program, or by esbuild about what the application imports. */
function missingPackage(errors: string): string | undefined {
  const patterns = [/package ["'](@?esbuild\b[^"']*)["']/, /Could not resolve "([^"./][^"]*)"/]
  return patterns.map(pattern => pattern.exec(errors)?.[1]).find(name => name !== undefined)
}
