// The thread that walks a library: synchronous readdir and stat are 25 times as fast as their
// promises (336k against 12.6k files/s), and a slow mount blocks nobody here.
// Names cross as latin1 strings, which hold any bytes one to one.
import { hash } from 'node:crypto'
import { lstatSync, readdirSync, statSync } from 'node:fs'
import { parentPort, workerData } from 'node:worker_threads'
import { extensionOf, pathText } from '../lib/path.ts'
import { compileExclusions } from '../lib/strategy/excluded.ts'
import { laterVolume } from '../lib/strategy/volumes.ts'
import type { Listing, WalkOrder } from './walk.ts'

const order = workerData as WalkOrder & { credit: Int32Array }
const root = Buffer.from(order.root)
const extensions = new Set(order.extensions)
const excluded = compileExclusions(order.excludedPatterns)
const nonAscii = /[^\x00-\x7f]/
const rootText = root.toString('latin1')
const rootIsOdd = nonAscii.test(rootText)
const batchFiles = 2_000
const batchFolders = 128

let batch: Listing[] = []
let batchSize = 0
let sent = 0

for (const start of order.starts) walkFrom(start)
flush()
parentPort!.postMessage(null)

function walkFrom(start: string) {
  const type = start === '' ? statOf('')?.isDirectory() : lstatOf(start)?.isDirectory()
  if (!type) return void list(parentOf(start))
  const waiting = [start]
  while (waiting.length > 0 && Atomics.load(order.credit, 1) === 0) {
    const path = waiting.pop()!
    const folders = list(path)
    for (let i = folders.length - 1; i >= 0; i--) waiting.push(below(path, folders[i]!))
  }
}

function list(path: string): string[] {
  const listing: Listing = {
    path,
    digest: '',
    sidecars: {},
    files: [],
    sizes: [],
    times: [],
    folders: [],
  }
  try {
    read(path, listing)
  } catch (error) {
    listing.error = (error as NodeJS.ErrnoException).code ?? 'EIO'
  }
  batch.push(listing)
  batchSize += listing.files.length
  if (batchSize >= batchFiles || batch.length >= batchFolders) flush()
  return listing.folders
}

function read(path: string, into: Listing) {
  const entries = readdirSync(diskPath(path), { withFileTypes: true, encoding: 'latin1' })
  entries.sort((a, b) => (a.name < b.name ? -1 : 1))
  const parts: string[] = [order.seed]
  for (const entry of entries) {
    const name = entry.name
    const text = nonAscii.test(name) ? pathText(Buffer.from(name, 'latin1')) : name
    const relative =
      path === ''
        ? text
        : `${nonAscii.test(path) ? pathText(Buffer.from(path, 'latin1')) : path}/${text}`
    if (entry.isDirectory()) {
      if (excluded(relative, text, true)) continue
      into.folders.push(name)
      parts.push(`${name}/`)
      continue
    }
    const extension = extensionOf(text)
    const sidecar = isSidecar(text)
    if (!(sidecar || (extensions.has(extension) && !laterVolume(text)))) continue
    if (excluded(relative, text, false)) continue
    const stat = entry.isFile() ? lstatOf(below(path, name)) : statOf(below(path, name))
    if (!stat?.isFile()) continue
    // Rounded, not cut: utimes through a JavaScript Date rounds to milliseconds as well.
    const time = Math.round(stat.mtimeMs)
    parts.push(`${name}\0${stat.size}\0${time}`)
    if (sidecar) into.sidecars[text] = time
    else {
      into.files.push(name)
      into.sizes.push(stat.size)
      into.times.push(time)
    }
  }
  into.digest = hash('md5', parts.join('\n'), 'hex')
}

/** Files that speak for the books beside them. */
function isSidecar(name: string) {
  return /^(metadata\.opf|series\.json|cover\.(jpe?g|png|webp)|.+\.opf)$/i.test(name)
}

function diskPath(path: string): string | Buffer {
  if (path === '') return root
  const joined = `${rootText}/${path}`
  return rootIsOdd || nonAscii.test(path) ? Buffer.from(joined, 'latin1') : joined
}

function lstatOf(path: string) {
  return lstatSync(diskPath(path), { throwIfNoEntry: false })
}

function statOf(path: string) {
  try {
    return statSync(diskPath(path), { throwIfNoEntry: false })
  } catch {
    // A symlink loop or a link to where we may not look: no file for us.
    return undefined
  }
}

function below(path: string, name: string) {
  return path === '' ? name : `${path}/${name}`
}

function parentOf(path: string) {
  return path.includes('/') ? path.slice(0, path.lastIndexOf('/')) : ''
}

/** Posts the batch and waits while four are unread, so that memory does not follow the library's size. */
function flush() {
  if (batch.length === 0) return
  while (sent - Atomics.load(order.credit, 0) >= 4 && Atomics.load(order.credit, 1) === 0) {
    Atomics.wait(order.credit, 0, Atomics.load(order.credit, 0), 100)
  }
  parentPort!.postMessage(batch)
  sent++
  batch = []
  batchSize = 0
}
