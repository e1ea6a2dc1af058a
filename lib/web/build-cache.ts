// Stored build of the web application, so that only the first start after a change of its sources builds it.
import { hash, randomUUID } from 'node:crypto'
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { deserialize, serialize } from 'node:v8'
import { Worker } from 'node:worker_threads'
import type { Build } from './build.ts'

export type BuildCache = {
  folder: string
  /** Called when a build cannot be stored; it is served all the same. */
  onUnstored(error: unknown): void
}

/** The build of the present sources, from the cache if it is there. Throws when it cannot be made. */
export async function currentBuild({ folder, onUnstored }: BuildCache): Promise<Build> {
  const name = `${await sourcesKey()}.build`
  const stored = await readStored(join(folder, name))
  if (stored) return stored
  const build = await buildInThread()
  await store(folder, name, build).catch(onUnstored)
  return build
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

async function readStored(file: string): Promise<Build | null> {
  try {
    return deserialize(await readFile(file))
  } catch {
    // Absent, or not complete after a crash of the machine.
    return null
  }
}

async function store(folder: string, name: string, build: Build): Promise<void> {
  await mkdir(folder, { recursive: true })
  const unfinished = join(folder, `${randomUUID()}.unfinished`)
  try {
    await writeFile(unfinished, serialize(build))
    await rename(unfinished, join(folder, name))
  } finally {
    await rm(unfinished, { force: true })
  }
  for (const other of await readdir(folder))
    if (other !== name && other.endsWith('.build')) await rm(join(folder, other), { force: true })
}

function buildInThread(): Promise<Build> {
  return new Promise((resolve, reject) => {
    const thread = new Worker(new URL('./build-thread.ts', import.meta.url))
    thread.once('message', resolve)
    thread.once('error', reject)
    thread.once('exit', code => reject(new Error(`The build thread ended with code ${code}`)))
  })
}
