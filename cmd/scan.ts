// `stackroom scan <path>`: scans folders in the foreground and prints a summary.
import { stat } from 'node:fs/promises'
import { Command, Option } from 'commander'
import { Invalid, Unavailable } from '../lib/base/errors.ts'
import { isWithin, pathText, relativeTo } from '../lib/base/path.ts'
import { findEnclosingLibrary, type LibraryRow } from '../lib/catalog/library/library.ts'
import { deviceOf, fileAccess, rootBytes } from '../lib/catalog/library/library-root.ts'
import { cancelScan, requestScan } from '../lib/catalog/scan/scan-request.ts'
import { folderHealth, mountKey } from '../lib/store/mount/mount-health.ts'
import { shortageMessage } from '../lib/store/space-guard.ts'
import { type Pipeline, startPipeline } from '../pipeline/pipeline.ts'
import { estimateScan } from '../pipeline/scan/estimate.ts'
import { discardPreparedWalk, prepareWalk } from '../pipeline/scan/walk.ts'
import { type CommonFlags, type Context, commonOptions, withContext } from './context.ts'
import {
  createWithScan,
  libraryDraft,
  type NewLibraryFlags,
  newLibraryOptions,
} from './new-library.ts'
import { exitCodeOf, jsonSummary, tableSummary } from './scan/summary.ts'
import { trackScan } from './scan/track.ts'

export type ScanFlags = CommonFlags &
  NewLibraryFlags & {
    mode: 'normal' | 'deep'
    json?: boolean
    ndjson?: boolean
    pageHash?: boolean
    dryRun?: boolean
    estimate?: boolean
    confirmMissing?: boolean
  }

export function scanCommand(): Command {
  return newLibraryOptions(commonOptions(new Command('scan')))
    .description('scan folders for new, changed, moved and missing books')
    .argument(
      '<path...>',
      'folders of books; inside an existing library, only these folders or files are scanned',
    )
    .addOption(
      new Option('-m, --mode <mode>', 'normal reads new and changed files, deep reads all files')
        .choices(['normal', 'deep'])
        .default('normal'),
    )
    .option('--json', 'print one JSON object per library')
    .option(
      '--ndjson',
      'print one JSON line per book when it is stored, and again when it is hashed',
    )
    .option('--page-hash', 'with --ndjson: include the SHA-256 of the original bytes of page 1')
    .option('--dry-run', 'print what a scan would do without changing anything')
    .option('--estimate', 'print how many files and bytes a scan would read without reading them')
    .option('--confirm-missing', 'mark books as missing even if many disappeared at once')
    .addHelpText(
      'after',
      '\nExit codes: 0 success, 1 some files or folders failed, 2 usage error, library unavailable or confirmation\nrequired, 130 interrupted by Ctrl-C (the next scan continues from there).',
    )
    .action(run)
}

/** `library` is null for a new one; no `paths` select all of it. */
type Part = { root: Buffer; library: LibraryRow | null; paths: Buffer[] }

async function run(pathArguments: string[], flags: ScanFlags) {
  prepareWalk()
  const paths = await Promise.all(pathArguments.map(rootBytes))
  const options = { quiet: true, libraries: pathArguments, endsItself: true }
  const shutdown = await withContext(flags, options, async context => {
    const { unlessRequested } = context.shutdown
    if (flags.dryRun || flags.estimate) await unlessRequested(estimate(context, paths, flags))
    else await scan(context, await unlessRequested(groupByLibrary(context, paths)), flags)
    return context.shutdown
  }).finally(discardPreparedWalk)
  shutdown.exit()
}

/**
 * Groups the paths by library, in order; a folder outside all libraries will become a new one. Throws
 * Invalid.
 */
async function groupByLibrary({ sql }: Context, paths: Buffer[]) {
  const parts = new Map<string, Part>()
  for (const path of paths) {
    const library = await findEnclosingLibrary(sql, path)
    const { root } = library ?? newPartAround(parts, path) ?? { root: await newRoot(path) }
    const key = root.toString('latin1')
    const relativePath = relativeTo(root, path)
    const part = parts.get(key)
    // The root folder selects the whole library.
    const isWhole = relativePath === null || part?.paths.length === 0
    const selected = isWhole ? [] : [...(part?.paths ?? []), relativePath]
    parts.set(key, { root, library, paths: selected })
  }
  return [...parts.values()]
}

function newPartAround(parts: Map<string, Part>, path: Buffer) {
  return [...parts.values()].find(({ library, root }) => library === null && isWithin(path, root))
}

async function estimate({ sql, config }: Context, paths: Buffer[], flags: ScanFlags) {
  for (const path of paths) {
    const library = await findEnclosingLibrary(sql, path)
    const access = fileAccess(config)
    const ioDepth = config.pipeline.io_depth
    const result = await estimateScan(sql, { library, path, access, ioDepth, ...flags })
    process.stdout.write(`${JSON.stringify(result)}\n`)
  }
}

async function newRoot(path: Buffer) {
  const stats = await folderHealth.run(mountKey(path), () => stat(path).catch(() => null))
  if (stats?.isFile()) {
    throw new Invalid(`${pathText(path)} is a file outside all libraries; pass its folder instead`)
  }
  await deviceOf(path)
  return path
}

/** Scans the libraries one after another; returns the highest exit code. */
async function scan(context: Context, parts: Part[], flags: ScanFlags) {
  const { shutdown, log } = context
  const starting = startPipeline({ ...context, watch: false })
  const pipeline = await shutdown.unlessRequested(starting, late => late.close())
  let stopCode: number | null = null
  const stop = (code: number) => {
    stopCode ??= code
  }
  void shutdown.requested.then(() => {
    process.stderr.write('stackroom: Interrupted; the next scan continues from here\n')
    stop(130)
  })
  // A closed pipe, as with `| head`.
  process.stdout.on('error', () => stop(141))
  try {
    let exitCode = 0
    for (const part of parts) {
      if (stopCode !== null) break
      const run = { pipeline, flags, isStopped: () => stopCode !== null }
      exitCode = Math.max(exitCode, await scanPart(context, part, run))
    }
    process.exitCode = stopCode ?? exitCode
  } catch (error) {
    shutdown.fail(error)
    throw error
  } finally {
    await shutdown.closeWithin('pipeline', { ms: 12_000, log }, () => pipeline.close())
  }
}

type Run = { pipeline: Pipeline; flags: ScanFlags; isStopped: () => boolean }

/** Returns the exit code. */
async function scanPart(context: Context, part: Part, run: Run) {
  const { pipeline, flags, isStopped } = run
  const shortage = pipeline.space.shortage(['database'])
  if (shortage) throw new Unavailable(shortageMessage(shortage))
  const { library, scanId } = await requestPart(context, part, run)
  const { paths } = part
  pipeline.wake()
  const cancel = () => cancelScan(context.sql, pipeline.queue, scanId).catch(() => {})
  const stats = await trackScan(context, pipeline, {
    scanId,
    libraryId: library.id,
    printsRecords: flags.ndjson ?? false,
    paths,
    endsWhenShort: true,
    isStopped,
  }).catch(async error => {
    await cancel()
    throw error
  })
  if (isStopped()) {
    await cancel()
    return 0
  }
  if (flags.json) process.stdout.write(`${JSON.stringify(jsonSummary(stats))}\n`)
  else if (!flags.ndjson) process.stdout.write(tableSummary(library, stats))
  if (stats.message) process.stderr.write(`stackroom: ${stats.message}\n`)
  return exitCodeOf(stats)
}

async function requestPart({ sql }: Context, { root, library, paths }: Part, run: Run) {
  const { flags, pipeline } = run
  const { queue } = pipeline
  const options = {
    followed: flags.ndjson ?? false,
    pageHash: flags.pageHash ?? false,
    confirmMissing: flags.confirmMissing ?? false,
  }
  const request = { mode: flags.mode, paths, options }
  if (library === null)
    return await createWithScan({ sql, queue }, libraryDraft(root, flags), request)
  return { library, scanId: await requestScan(sql, queue, { ...request, libraryId: library.id }) }
}
