// Stored build of the web application, so that only the first start after a change of its sources builds it.

import { execFile } from 'node:child_process'
import { hash, randomUUID } from 'node:crypto'
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { deserialize } from 'node:v8'
import { cacheHealth, mountKey } from '../mount/mount-health.ts'
import type { Build } from './build.ts'

export type BuildCache = {
  folder: string
  /** Called when a build cannot be stored; it is served all the same. */
  onUnstored(error: unknown): void
}

const execute = promisify(execFile)
const maxBuildBytes = 64 * 1024 * 1024
// Stripping types is experimental in Node.
const nodeOptions = ['--disable-warning=ExperimentalWarning']

/** The build of the present sources, from the cache if it is there. Throws when it cannot be made. */
export async function currentBuild({ folder, onUnstored }: BuildCache): Promise<Build> {
  const name = `${await sourcesKey()}.build`
  // Without an answer of its disk it is built for this process alone.
  const root = mountKey(Buffer.from(folder))
  const read = () => readStored(join(folder, name))
  const stored = await cacheHealth.run(root, read).catch(() => null)
  if (stored) return stored
  const built = await buildInProcess()
  await cacheHealth.run(root, () => store(folder, name, built)).catch(onUnstored)
  return deserialize(built)
}

/** Changes with the sources: names, sizes and times of all files, and the versions of the packages. */
async function sourcesKey(): Promise<string> {
  const folder = import.meta.dirname
  const lockFile = createRequire(import.meta.url).resolve('../../package-lock.json')
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = entries
    .filter(entry => entry.isFile())
    .map(entry => join(entry.parentPath, entry.name))
  const lines = await Promise.all(
    [...files, lockFile].map(async file => {
      const { size, mtimeMs } = await stat(file)
      return `${file} ${size} ${mtimeMs}`
    }),
  )
  return hash('sha256', [process.version, ...lines.sort()].join('\n')).slice(0, 32)
}

const digestLength = 32
const abandonedMs = 3_600_000
const digestOf = (content: Buffer): Buffer => hash('sha256', content, 'buffer')

async function readStored(file: string): Promise<Build | null> {
  try {
    const bytes = await readFile(file)
    // After a crash of the machine a part of it may be empty.
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

/** Whether it is the file of a process that was killed while it wrote. */
async function isAbandoned(file: string): Promise<boolean> {
  if (!file.endsWith('.unfinished')) return false
  // Another process may have renamed it.
  const stats = await stat(file).catch(() => null)
  return stats !== null && Date.now() - stats.mtimeMs > abandonedMs
}

async function buildInProcess(): Promise<Buffer> {
  const file = join(import.meta.dirname, 'build-process.ts')
  const options = { encoding: 'buffer', maxBuffer: maxBuildBytes, windowsHide: true } as const
  const { stdout } = await execute(process.execPath, [...nodeOptions, file], options)
  return stdout
}
