// Preview of a library: the series that a folder would yield, from file names only. Opens no file, stores nothing.
import type { Dirent } from 'node:fs'
import { opendir, realpath } from 'node:fs/promises'
import { setTimeout as sleep, setImmediate as yieldToEventLoop } from 'node:timers/promises'
import { Unavailable } from '../../base/errors.ts'
import { childPath, extensionOf, joinPath, pathText } from '../../base/path.ts'
import { specialFolders } from '../../base/special-folders.ts'
import { extensionsOf, type FormatName, formatNames } from '../../media/format/formats.ts'
import { compileExclusions, isLaterVolume } from '../../media/strategy/exclusions.ts'
import type { Placement } from '../../media/strategy/placement.ts'
import { placeBook, validateSeriesStrategy } from '../../media/strategy/series.ts'
import { type FilesystemConfig, readableRoot } from './library-root.ts'
import { initialSettings, settingColumns } from './library-settings.ts'
import { createLayout } from './suggested-strategy.ts'

type PreviewRequest = {
  path: string
  seriesStrategy?: string | null | undefined
  seriesConfig?: Record<string, unknown> | null | undefined
  allowedFormats?: string[] | null | undefined
  excludedPatterns?: string | null | undefined
}

// A user waits for the result, which only has to show whether the strategy fits.
const limits = { files: 20_000, entries: 200_000, series: 1_000, samples: 5, timeMs: 5_000 }

// A user's patterns can make a single entry slow.
const maxBlockMs = 20

// A disk that does not respond at all.
const responseMs = 7_000

/**
 * Throws Invalid for an invalid folder, strategy or setting, Unavailable for a folder that does not respond.
 */
export async function previewLibrary(
  filesystem: FilesystemConfig,
  request: PreviewRequest,
  signal: AbortSignal,
) {
  const waiting = new AbortController()
  const late = sleep(responseMs, null, { signal: waiting.signal }).catch(() => null)
  const end = AbortSignal.any([signal, waiting.signal])
  try {
    const found = await Promise.race([preview(filesystem, request, end), late])
    if (found === null) throw new Unavailable('The folder does not respond')
    return found
  } finally {
    waiting.abort()
  }
}

async function preview(filesystem: FilesystemConfig, request: PreviewRequest, signal: AbortSignal) {
  const strategy = request.seriesStrategy ?? 'series_volume'
  const config = validateSeriesStrategy(strategy, request.seriesConfig ?? {})
  const { root } = await readableRoot(request.path, filesystem)
  const { allowedFormats, excludedPatterns } = request
  const settings = settingColumns({ allowedFormats, excludedPatterns }, initialSettings)
  const extensions = extensionsOf((settings.allowed_formats as FormatName[] | null) ?? formatNames)
  const excluded = compileExclusions((settings.excluded_patterns as string | null) ?? '')
  const series = new Map<string, DetectedSeries>()
  const layout = createLayout()
  let totalFiles = 0
  const foreign = await foreignFolders(filesystem)
  const walked = walk({ root, foreign, signal }, (path, entry) => {
    if (excluded(path, entry.name, entry.isDirectory())) return 'skip'
    if (entry.isDirectory()) return 'enter'
    layout.addFile(path)
    const isBook = extensions.includes(extensionOf(entry.name)) && !isLaterVolume(entry.name)
    if (!isBook || !(entry.isFile() || entry.isSymbolicLink())) return 'skip'
    if (totalFiles >= limits.files) return 'stop'
    totalFiles++
    layout.addBook(path)
    add(series, placeBook(strategy, config, path), path)
    return 'skip'
  })
  const isComplete = await walked
  const sorted = [...series.values()].sort((a, b) =>
    a.name < b.name ? -1 : a.name > b.name ? 1 : 0,
  )
  return {
    detectedSeries: sorted.slice(0, limits.series),
    totalSeries: sorted.length,
    totalFiles,
    isComplete,
    suggestedStrategy: layout.suggestion(strategy),
  }
}

type DetectedSeries = {
  name: string
  path: string | null
  bookCount: number
  sampleBooks: string[]
  metadata: { publisher: string | null; author: string | null } | null
}

function add(series: Map<string, DetectedSeries>, placement: Placement, path: string) {
  const { key, name, folder, publisher, author } = placement
  const metadata = publisher || author ? { publisher, author } : null
  const entry = series.get(key) ?? { name, path: folder, bookCount: 0, sampleBooks: [], metadata }
  entry.bookCount++
  if (entry.sampleBooks.length < limits.samples)
    entry.sampleBooks.push(path.slice(path.lastIndexOf('/') + 1))
  series.set(key, entry)
}

type NamedEntry = Pick<Dirent, 'isDirectory' | 'isFile' | 'isSymbolicLink'> & { name: string }
type Visit = (path: string, entry: NamedEntry) => 'enter' | 'skip' | 'stop'

type Walk = { root: Buffer; foreign: Buffer[]; signal: AbortSignal }

/** Folders that no library contains: special file systems and the data directory. */
async function foreignFolders({ data_dir }: FilesystemConfig): Promise<Buffer[]> {
  const data = await realpath(data_dir, { encoding: 'buffer' }).catch(() => null)
  return [...specialFolders(), ...(data ? [data] : [])]
}

/**
 * Visits all entries below `root`; a folder that cannot be listed is skipped. Returns false if a limit
 * stopped it early.
 */
async function walk({ root, foreign, signal }: Walk, visit: Visit): Promise<boolean> {
  let since = performance.now()
  const deadline = since + limits.timeMs
  const folders: { bytes: Buffer; path: string }[] = [{ bytes: Buffer.alloc(0), path: '' }]
  for (let entries = 0, folder = folders.pop(); folder; folder = folders.pop()) {
    const place = joinPath(root, folder.bytes)
    if (foreign.some(other => other.equals(place))) continue
    try {
      const options = { encoding: 'buffer' as never, bufferSize: 512 }
      for await (const entry of (await opendir(place, options)) as AsyncIterable<Dirent>) {
        const bytes = Buffer.from(entry.name)
        const isLimitReached =
          signal.aborted || performance.now() > deadline || ++entries > limits.entries
        const namedEntry = withName(entry, pathText(bytes))
        const path = childPath(folder.path, namedEntry.name)
        const action = isLimitReached ? 'stop' : visit(path, namedEntry)
        if (action === 'stop') return false
        if (action === 'enter') folders.push({ bytes: joinPath(folder.bytes, bytes), path })
        // opendir yields 512 entries without leaving the microtask queue, so this lets other requests run.
        if (entries % 512 === 0 || performance.now() - since > maxBlockMs) {
          await yieldToEventLoop()
          since = performance.now()
        }
      }
    } catch (error) {
      if (!(error instanceof Error && 'syscall' in error)) throw error
    }
  }
  return true
}

function withName(entry: Dirent, name: string): NamedEntry {
  return {
    name,
    isDirectory: () => entry.isDirectory(),
    isFile: () => entry.isFile(),
    isSymbolicLink: () => entry.isSymbolicLink(),
  }
}
