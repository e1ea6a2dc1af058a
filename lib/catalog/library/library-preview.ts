// What series a folder would give, by the names of its files alone: no file is opened, nothing stored.

import type { Dirent } from 'node:fs'
import { opendir } from 'node:fs/promises'
import { setImmediate as breathe } from 'node:timers/promises'
import { formatNames } from '../../format/contract.ts'
import { below, extensionOf, joinPath, pathText } from '../../path.ts'
import { compileExclusions } from '../../strategy/excluded.ts'
import type { Placement } from '../../strategy/placement.ts'
import { placeBook, validateStrategy } from '../../strategy/series.ts'
import { laterVolume } from '../../strategy/volumes.ts'
import { type Grounds, readableRoot } from './library-root.ts'
import { ruleColumns } from './library-rules.ts'

type Wanted = {
  path: string
  seriesStrategy?: string | null | undefined
  seriesConfig?: Record<string, unknown> | null | undefined
  allowedFormats?: string[] | null | undefined
  excludedPatterns?: string | null | undefined
}

// A person waits for it: enough to see whether the strategy fits.
const most = { files: 20_000, entries: 200_000, series: 1_000, samples: 5, ms: 5_000 }

/** Throws Invalid for a folder, strategy or rule that is none. */
export async function previewLibrary(grounds: Grounds, wanted: Wanted, signal: AbortSignal) {
  const strategy = wanted.seriesStrategy ?? 'series_volume'
  const config = validateStrategy(strategy, wanted.seriesConfig ?? {})
  const { root } = await readableRoot(wanted.path, grounds)
  const { allowedFormats, excludedPatterns } = wanted
  const rules = ruleColumns({ allowedFormats, excludedPatterns }, '')
  const extensions = (rules.allowed_formats as string[] | null) ?? formatNames
  const excluded = compileExclusions((rules.excluded_patterns as string | null) ?? '')
  const series = new Map<string, Detected>()
  let totalFiles = 0
  const walked = walk(root, signal, (path, entry) => {
    if (excluded(path, entry.name, entry.isDirectory())) return 'pass'
    if (entry.isDirectory()) return 'enter'
    const isBook = extensions.some(e => e === extensionOf(entry.name)) && !laterVolume(entry.name)
    if (!isBook || !(entry.isFile() || entry.isSymbolicLink())) return 'pass'
    if (totalFiles >= most.files) return 'end'
    totalFiles++
    add(series, placeBook(strategy, config, path), path)
    return 'pass'
  })
  const isComplete = await walked
  const found = [...series.values()].sort((a, b) =>
    a.name < b.name ? -1 : a.name > b.name ? 1 : 0,
  )
  return {
    detectedSeries: found.slice(0, most.series),
    totalSeries: found.length,
    totalFiles,
    isComplete,
  }
}

type Detected = {
  name: string
  path: string | null
  bookCount: number
  sampleBooks: string[]
  metadata: { publisher: string | null; author: string | null } | null
}

function add(series: Map<string, Detected>, place: Placement, path: string) {
  const { key, name, folder, publisher, author } = place
  const metadata = publisher || author ? { publisher, author } : null
  const known = series.get(key) ?? { name, path: folder, bookCount: 0, sampleBooks: [], metadata }
  known.bookCount++
  if (known.sampleBooks.length < most.samples)
    known.sampleBooks.push(path.slice(path.lastIndexOf('/') + 1))
  series.set(key, known)
}

type Shown = Pick<Dirent, 'isDirectory' | 'isFile' | 'isSymbolicLink'> & { name: string }
type Visit = (path: string, entry: Shown) => 'enter' | 'pass' | 'end'

/** Visits what is below `root` until it is through, which it answers, or until there is too much. */
async function walk(root: Buffer, signal: AbortSignal, visit: Visit): Promise<boolean> {
  const deadline = performance.now() + most.ms
  const folders: { bytes: Buffer; path: string }[] = [{ bytes: Buffer.alloc(0), path: '' }]
  for (let entries = 0, folder = folders.pop(); folder; folder = folders.pop()) {
    const directory = await opendir(joinPath(root, folder.bytes), {
      encoding: 'buffer' as never,
      bufferSize: 512,
    }).catch(() => null)
    if (!directory) continue
    for await (const entry of directory as AsyncIterable<Dirent>) {
      const bytes = Buffer.from(entry.name)
      const isOver = signal.aborted || performance.now() > deadline || ++entries > most.entries
      const shown = named(entry, pathText(bytes))
      const path = below(folder.path, shown.name)
      const next = isOver ? 'end' : visit(path, shown)
      if (next === 'end') return false
      if (next === 'enter') folders.push({ bytes: joinPath(folder.bytes, bytes), path })
      // A batch of entries comes at once; others want to be served between two of them.
      if (entries % 512 === 0) await breathe()
    }
  }
  return true
}

function named(entry: Dirent, name: string): Shown {
  return {
    name,
    isDirectory: () => entry.isDirectory(),
    isFile: () => entry.isFile(),
    isSymbolicLink: () => entry.isSymbolicLink(),
  }
}
