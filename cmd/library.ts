// `stackroom library`: lists, adds and removes libraries, and queues their scans.
import { Command } from 'commander'
import { permissionNames } from '../lib/accounts/permission.ts'
import { serverViewer } from '../lib/accounts/viewer.ts'
import { Conflict, Invalid, NotFound } from '../lib/base/errors.ts'
import { pathText } from '../lib/base/path.ts'
import type { SettingsAccess } from '../lib/catalog/library/library-access.ts'
import { deleteLibrary } from '../lib/catalog/library/library-erase.ts'
import { type Library, listLibraries } from '../lib/catalog/library/library-record.ts'
import { deviceOf, rootBytes } from '../lib/catalog/library/library-root.ts'
import { defaultLibraryName } from '../lib/catalog/library/library-settings.ts'
import { createLibrary } from '../lib/catalog/library/library-write.ts'
import type { ScanStatus } from '../lib/catalog/scan/scan-progress.ts'
import { startScan } from '../lib/catalog/scan/scan-request.ts'
import { latestScans } from '../lib/catalog/scan/scan-status.ts'
import type { Sql } from '../lib/store/postgres/db.ts'
import { openQueue, type Queue } from '../lib/store/queue/queue.ts'
import { hasWorkers } from '../pipeline/work/process-lock.ts'
import { type CommonFlags, type Context, commonOptions, withContext } from './context.ts'
import { libraryDraft, type NewLibraryFlags, newLibraryOptions } from './new-library.ts'
import { requireConfirmation } from './terminal/prompt.ts'
import { textTable, timeText } from './terminal/table.ts'

type ScanFlags = CommonFlags & { all?: true; deep?: true }

/** The command line may do what an administrator may. */
const access: SettingsAccess = {
  permissions: new Set(permissionNames),
  viewer: serverViewer,
  hasFolders: true,
}
const everything = { offset: 0, pageSize: 1_000_000 }
const nameHelp = 'name, id or folder of the library'

export function libraryCommand(): Command {
  const command = new Command('library').description('list, add, scan or remove libraries')
  commonOptions(command.command('list'))
    .description('list the libraries')
    .option('--json', 'print a JSON array')
    .action(list)
  newLibraryOptions(commonOptions(command.command('add')))
    .description('add a folder of books as a library, without scanning it; prints its id')
    .argument('<folder>', 'folder of books')
    .addHelpText(
      'after',
      '\nA running server or worker notices a library that it watches (--watch on), and scans it.',
    )
    .action(add)
  commonOptions(command.command('scan'))
    .description('queue a scan for a running server or worker')
    .argument('[name]', nameHelp)
    .option('--all', 'scan all active libraries')
    .option('--deep', 'read all files, also unchanged ones')
    .addHelpText('after', '\n`stackroom scan FOLDER` scans at once, without a server.')
    .action(scan)
  commonOptions(command.command('remove'))
    .description('remove a library with the reading progress of its books; files are not touched')
    .argument('<name>', nameHelp)
    .option('--yes', 'do not ask for confirmation')
    .action(remove)
  return command
}

async function list({ json = false, ...flags }: CommonFlags & { json?: boolean }): Promise<void> {
  const libraries = await withDatabase(flags, async ({ sql }) => {
    const [{ data }, scans] = await Promise.all([
      listLibraries(sql, serverViewer, everything),
      latestScans(sql, serverViewer, null),
    ])
    const scanOf = new Map(scans.map(scan => [scan.libraryId, scan]))
    return data.map(library => summaryOf(library, scanOf.get(library.id)))
  })
  process.stdout.write(json ? `${JSON.stringify(libraries)}\n` : listText(libraries))
}

function summaryOf(library: Library, scan: ScanStatus | undefined) {
  const { id, name, path, bookCount, seriesCount, isActive, lastScannedAt, nextScanAt } = library
  return {
    ...{ id, name, path, bookCount, seriesCount, isActive, lastScannedAt, nextScanAt },
    latestScan: scan
      ? { status: scan.status, mode: scan.mode, message: scan.message, failures: scan.failures }
      : null,
  }
}

type Summary = ReturnType<typeof summaryOf>

function listText(libraries: Summary[]): string {
  if (libraries.length === 0)
    return 'There are no libraries; `stackroom library add FOLDER` adds one.\n'
  return textTable(
    ['name', 'folder', 'books', 'last scan', 'state'],
    libraries.map(library => [
      library.name,
      library.path,
      library.bookCount,
      timeText(library.lastScannedAt),
      stateText(library),
    ]),
  )
}

function stateText({ isActive, latestScan }: Summary): string {
  const state = latestScan ? scanText(latestScan) : 'not scanned'
  return isActive ? state : `inactive, ${state}`
}

function scanText({ status, message, failures }: NonNullable<Summary['latestScan']>): string {
  if (status === 'completed')
    return failures > 0 ? `scanned, ${failures} files could not be read` : 'scanned'
  return `scan ${status}${message ? `: ${message}` : ''}`
}

async function add(folder: string, flags: CommonFlags & NewLibraryFlags): Promise<void> {
  const root = await rootBytes(folder)
  const id = await withQueue(flags, [folder], async ({ sql, queue, config }) => {
    // Names the folder in its message.
    await deviceOf(root)
    const { root: _, name, ...draft } = libraryDraft(root, flags)
    const path = pathText(root)
    const library = { ...draft, path, name: name ?? defaultLibraryName(path) }
    return await createLibrary({ sql, queue, filesystem: config }, access, library)
  })
  print(id)
}

async function scan(name: string | undefined, { all, deep, ...flags }: ScanFlags): Promise<void> {
  if ((name === undefined) === (all === undefined))
    throw new Invalid('Name one library, or use --all')
  const mode = deep ? 'deep' : 'normal'
  await withQueue(flags, [], async ({ sql, queue }) => {
    const libraries =
      name === undefined
        ? (await allLibraries(sql)).filter(library => library.isActive)
        : [await findLibrary(sql, name)]
    if (libraries.length === 0) throw new NotFound('There are no active libraries')
    for (const library of libraries) {
      try {
        await startScan(sql, queue, { libraryId: library.id, mode })
        print(`Queued a ${deep ? 'deep ' : ''}scan of ${library.name}`)
      } catch (error) {
        // Of several libraries, the others are scanned.
        if (!(error instanceof Conflict) || name !== undefined) throw error
        print(`${library.name}: ${error.message}`)
      }
    }
    print(
      (await hasWorkers(sql))
        ? 'A server or worker is running and scans next; `stackroom library list` shows the state.'
        : 'No server or worker is running: start `stackroom serve` or `stackroom worker` to run the scan.',
    )
  })
}

async function remove(name: string, { yes, ...flags }: CommonFlags & { yes?: true }) {
  await withQueue(flags, [], async ({ sql, queue }) => {
    const library = await findLibrary(sql, name)
    await requireConfirmation(
      `Remove the library ${library.name} (${library.path}, ${library.bookCount} books) and the reading progress of its books?\nFiles on disk are not touched.`,
      { yes },
    )
    await deleteLibrary(sql, queue, { viewer: serverViewer, libraryId: library.id })
    print(`Removed ${library.name}; its files on disk are unchanged`)
    print(
      (await hasWorkers(sql))
        ? 'Its rows in the database are deleted in the background.'
        : 'No server or worker is running: the next one deletes its rows in the database.',
    )
  })
}

const allLibraries = async (sql: Sql) => (await listLibraries(sql, serverViewer, everything)).data

/** By id, folder or name; letter case counts only if it distinguishes libraries. Throws NotFound, and Conflict if several match. */
async function findLibrary(sql: Sql, text: string): Promise<Library> {
  const libraries = await allLibraries(sql)
  const folder = pathText(await rootBytes(text))
  const matching = [
    libraries.filter(({ id, path }) => id === text || path === folder || path === text),
    libraries.filter(({ name }) => name === text),
    libraries.filter(({ name }) => name.toLowerCase() === text.toLowerCase()),
  ].find(found => found.length > 0)
  if (!matching) throw new NotFound(`No library named ${text}`)
  const [library, ...others] = matching
  if (others.length > 0)
    throw new Conflict(
      `${matching.length} libraries are named ${text}; use the id of one: ${matching.map(({ id, path }) => `${id} (${path})`).join(', ')}`,
    )
  return library!
}

const withDatabase = <T>(flags: CommonFlags, work: (context: Context) => Promise<T>) =>
  withContext(flags, { quiet: true, dataDirectory: 'unused' }, work)

/** `libraries`: folders that will become libraries. */
function withQueue<T>(
  flags: CommonFlags,
  libraries: readonly string[],
  work: (context: Context & { queue: Queue }) => Promise<T>,
): Promise<T> {
  const options = { quiet: true, dataDirectory: 'unused', libraries } as const
  return withContext(flags, options, async context => {
    const { sql, log } = context
    const queue = await openQueue(sql, error => log.error({ err: error }, 'job queue error'))
    try {
      return await work({ ...context, queue })
    } finally {
      await queue.close()
    }
  })
}

function print(text: string) {
  process.stdout.write(`${text}\n`)
}
