// stackroom scan PATH: catalogues a folder and says what came of it.
import { statSync } from 'node:fs'
import { Command, InvalidArgumentError, Option } from 'commander'
import {
  createLibrary,
  type LibraryRow,
  libraryAround,
  rootBytes,
} from '../lib/catalog/library/library.ts'
import { cancelScan, requestScan } from '../lib/catalog/library/scan-request.ts'
import { Invalid } from '../lib/errors.ts'
import { pathText, relativeTo } from '../lib/path.ts'
import { seriesStrategies } from '../lib/strategy/series.ts'
import { estimateScan } from '../pipeline/estimate.ts'
import { startPipeline } from '../pipeline/index.ts'
import {
  type CommonFlags,
  commonOptions,
  type Stackroom,
  untilSignal,
  withStackroom,
} from './open.ts'
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
    .argument('<path>', 'a folder of books; inside a library only that part is scanned')
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
    .option('--json', 'print the summary as one JSON object')
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

async function run(path: string, flags: ScanFlags) {
  const root = rootBytes(path)
  await withStackroom(flags, { quiet: true }, async stackroom => {
    const around = await libraryAround(stackroom.sql, root)
    if (flags.dryRun || flags.estimate) {
      const estimate = await estimateScan(stackroom.sql, { library: around, path: root, ...flags })
      process.stdout.write(`${JSON.stringify(estimate)}\n`)
      return
    }
    const library = around ?? (await addLibrary(stackroom, root, flags))
    await scan(stackroom, library, root, flags)
  })
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

async function scan(stackroom: Stackroom, library: LibraryRow, path: Buffer, flags: ScanFlags) {
  const pipeline = await startPipeline(stackroom)
  let stopped: number | null = null
  const stop = (code: number) => {
    stopped ??= code
  }
  void untilSignal().then(() => stop(130))
  process.stdout.on('error', () => stop(141))
  try {
    const inside = relativeTo(library.root, path)
    const scanId = await requestScan(stackroom.sql, pipeline.queue, {
      libraryId: library.id,
      mode: flags.mode,
      paths: inside ? [inside] : [],
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
      stopped: () => stopped !== null,
    })
    if (stopped !== null) await cancelScan(stackroom.sql, pipeline.queue, scanId).catch(() => {})
    process.exitCode = stopped ?? exitCodeOf(figures)
    if (stopped !== null) return
    if (flags.json) process.stdout.write(`${JSON.stringify(jsonSummary(figures))}\n`)
    else if (!flags.ndjson) process.stdout.write(tableSummary(library, figures))
    if (figures.message) process.stderr.write(`stackroom: ${figures.message}\n`)
  } finally {
    await pipeline.close()
  }
}

function parseJson(text: string): Record<string, unknown> {
  try {
    return JSON.parse(text)
  } catch {
    throw new InvalidArgumentError('not JSON')
  }
}
