// stackroom scan PATH: catalogues a folder and says what came of it.
import { statSync } from 'node:fs'
import { Command, InvalidArgumentError, Option } from 'commander'
import {
  createLibrary,
  type LibraryRow,
  libraryAround,
  rootBytes,
} from '../lib/catalog/library/library.ts'
import { cancelScan, requestScan } from '../lib/catalog/scan/scan-request.ts'
import { Invalid } from '../lib/errors.ts'
import { pathText, relativeTo } from '../lib/path.ts'
import { seriesStrategies } from '../lib/strategy/series.ts'
import { type Pipeline, startPipeline } from '../pipeline/pipeline.ts'
import { estimateScan } from '../pipeline/scan/estimate.ts'
import {
  type CommonFlags,
  commonOptions,
  type Stackroom,
  untilSignal,
  withStackroom,
} from './context.ts'
import { followScan } from './scan/follow.ts'
import { exitCodeOf, jsonSummary, tableSummary } from './scan/summary.ts'

export type ScanFlags = CommonFlags & {
  mode: 'normal' | 'deep'
  name?: string
  strategy?: string
  strategyConfig?: Record<string, unknown>
  json?: boolean
  ndjson?: boolean
  pageHash?: boolean
  dryRun?: boolean
  estimate?: boolean
  confirmMissing?: boolean
}

export function scanCommand(): Command {
  return commonOptions(new Command('scan'))
    .description('catalogue a folder: everything new, changed, moved or gone since the last scan')
    .argument(
      '<path...>',
      'folders of books; of a library around them only these folders or files are scanned',
    )
    .addOption(
      new Option('-m, --mode <mode>', 'normal reads new and changed files, deep reads every file')
        .choices(['normal', 'deep'])
        .default('normal'),
    )
    .option('-n, --name <name>', 'name of the library, when it is new')
    .addOption(
      new Option('-s, --strategy <strategy>', 'how folders become series, when it is new').choices([
        ...seriesStrategies,
      ]),
    )
    .option('--strategy-config <json>', 'settings of the strategy', parseJson)
    .option('--json', 'print the summary as one JSON object a library')
    .option('--ndjson', 'print one JSON line a book as it is stored, and again when it is hashed')
    .option('--page-hash', 'with --ndjson: the SHA-256 of the original bytes of page 1')
    .option('--dry-run', 'say what a scan would do, change nothing')
    .option('--estimate', 'say how many files and bytes a scan would read, read none')
    .option('--confirm-missing', 'mark books missing even when many are gone at once')
    .addHelpText(
      'after',
      '\nExit codes: 0 done, 1 some files failed, 2 wrong usage, library unavailable or not confirmed,\n130 stopped by Ctrl-C (the next scan goes on from there).',
    )
    .action(run)
}

type Part = { library: LibraryRow; inside: Buffer[] }

async function run(given: string[], flags: ScanFlags) {
  const paths = given.map(rootBytes)
  await withStackroom(flags, { quiet: true }, async stackroom => {
    if (flags.dryRun || flags.estimate) return await estimate(stackroom, paths, flags)
    await scan(stackroom, await partsOf(stackroom, paths, flags), flags)
  })
}

/** What is meant of each library, in the order of the paths; a folder outside of all becomes one. */
async function partsOf(stackroom: Stackroom, paths: Buffer[], flags: ScanFlags): Promise<Part[]> {
  const parts = new Map<string, Part>()
  for (const path of paths) {
    const around = await libraryAround(stackroom.sql, path)
    const library = around ?? (await addLibrary(stackroom, path, flags))
    const inside = relativeTo(library.root, path)
    const known = parts.get(library.id)
    // The folder of the library stands for all of it.
    const isAll = inside === null || known?.inside.length === 0
    parts.set(library.id, { library, inside: isAll ? [] : [...(known?.inside ?? []), inside] })
  }
  return [...parts.values()]
}

async function estimate({ sql }: Stackroom, paths: Buffer[], flags: ScanFlags) {
  for (const path of paths) {
    const library = await libraryAround(sql, path)
    const figures = await estimateScan(sql, { library, path, ...flags })
    process.stdout.write(`${JSON.stringify(figures)}\n`)
  }
}

function addLibrary({ sql }: Stackroom, root: Buffer, flags: ScanFlags) {
  if (statSync(root, { throwIfNoEntry: false })?.isFile()) {
    throw new Invalid(`${pathText(root)} is a file outside any library; give its folder`)
  }
  return createLibrary(sql, {
    name: flags.name,
    root,
    seriesStrategy: flags.strategy,
    seriesConfig: flags.strategyConfig,
  })
}

/** One library after the other; the worst decides on the exit code. */
async function scan(stackroom: Stackroom, parts: Part[], flags: ScanFlags) {
  const pipeline = await startPipeline({ ...stackroom, watch: false })
  let stopped: number | null = null
  const stop = (code: number) => {
    stopped ??= code
  }
  void untilSignal().then(() => stop(130))
  process.stdout.on('error', () => stop(141))
  try {
    let worst = 0
    for (const part of parts) {
      if (stopped !== null) break
      const run = { pipeline, flags, stopped: () => stopped !== null }
      worst = Math.max(worst, await scanPart(stackroom, part, run))
    }
    process.exitCode = stopped ?? worst
  } finally {
    await pipeline.close()
  }
}

type Run = { pipeline: Pipeline; flags: ScanFlags; stopped: () => boolean }

/** Answers the exit code. */
async function scanPart(stackroom: Stackroom, { library, inside }: Part, run: Run) {
  const { pipeline, flags, stopped } = run
  const scanId = await requestScan(stackroom.sql, pipeline.queue, {
    libraryId: library.id,
    mode: flags.mode,
    paths: inside,
    options: {
      followed: flags.ndjson ?? false,
      pageHash: flags.pageHash ?? false,
      confirmMissing: flags.confirmMissing ?? false,
    },
  })
  pipeline.wake()
  const figures = await followScan(stackroom, pipeline, {
    scanId,
    libraryId: library.id,
    records: flags.ndjson ?? false,
    inside,
    stopped,
  })
  if (stopped()) {
    await cancelScan(stackroom.sql, pipeline.queue, scanId).catch(() => {})
    return 0
  }
  if (flags.json) process.stdout.write(`${JSON.stringify(jsonSummary(figures))}\n`)
  else if (!flags.ndjson) process.stdout.write(tableSummary(library, figures))
  if (figures.message) process.stderr.write(`stackroom: ${figures.message}\n`)
  return exitCodeOf(figures)
}

function parseJson(text: string): Record<string, unknown> {
  try {
    return JSON.parse(text)
  } catch {
    throw new InvalidArgumentError('not JSON')
  }
}
