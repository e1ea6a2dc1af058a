// `stackroom serve`: HTTP API and, unless disabled, the pipeline in one process.
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { Command } from 'commander'
import type { FastifyInstance } from 'fastify'
import { createSetupToken } from '../lib/accounts/setup.ts'
import { openApi } from '../lib/api/open.ts'
import { Failure, Invalid, NotResponding } from '../lib/base/errors.ts'
import { pathText } from '../lib/base/path.ts'
import { findEnclosingLibrary, type LibraryRow } from '../lib/catalog/library/library.ts'
import { deviceOf, rootBytes } from '../lib/catalog/library/library-root.ts'
import { requestScan } from '../lib/catalog/scan/scan-request.ts'
import { cannotListen } from '../lib/store/config/bind-address.ts'
import type { Pipeline } from '../pipeline/pipeline.ts'
import { type CommonFlags, commonOptions } from './context.ts'
import { runService, type Service, startWorkers, stopWorkers, whenPossible } from './lifecycle.ts'
import {
  createWithScan,
  libraryDraft,
  type NewLibraryFlags,
  newLibraryOptions,
} from './new-library.ts'
import { tableSummary } from './scan/summary.ts'
import { trackScan } from './scan/track.ts'
import { openBrowser } from './serve/open-browser.ts'
import {
  firstPage,
  type Listening,
  listeningAt,
  printListening,
  printStart,
} from './serve/start-message.ts'

type Flags = CommonFlags &
  NewLibraryFlags & {
    host?: string
    port?: string
    library: string[]
    workers: boolean
    open?: true
  }

const hungRetryMs = 5_000

export function serveCommand(): Command {
  return newLibraryOptions(commonOptions(new Command('serve')))
    .description('start the server')
    .option('--host <address>', 'address to listen on (default: 127.0.0.1)')
    .option('-p, --port <port>', 'port to listen on (default: 8080)')
    .option(
      '-l, --library <path>',
      'folder of books to add as a library and scan (repeatable)',
      collect,
      [],
    )
    .option('--open', 'open the application in the browser of this machine')
    .option('--no-workers', 'only serve the API; run background jobs in separate worker processes')
    .action(run)
}

async function run(flags: Flags) {
  if (flags.name !== undefined && flags.library.length !== 1)
    throw new Invalid('--name needs exactly one --library')
  const settings = { 'application.host': flags.host, 'application.port': flags.port }
  await runService(flags, settings, service => serve(service, flags))
}

/**
 * Serves until shutdown is requested, continues for `drain_seconds` while load balancers notice, and lets
 * running requests and jobs finish. Queued jobs run after the next start.
 */
async function serve(service: Service, flags: Flags) {
  const { shutdown, config, log } = service
  await shutdown.unlessRequested(checkNewFolders(service, flags))
  const api = await shutdown.unlessRequested(openApi(service), late => late.close())
  let pipeline: Pipeline | null = null
  try {
    const listening = await listen(api.server, config.application)
    printListening(listening)
    void shutdown.requested.then(() =>
      process.stdout.write('Stackroom is stopping; press Ctrl-C again to stop immediately\n'),
    )
    if (flags.workers) pipeline = await startWorkers(service)
    service.readiness.check = api.readiness
    void api.prepare()
    const added = announceStart(service, listening, flags).then(
      () => pipeline && addLibraries(service, pipeline, flags),
    )
    await Promise.all([shutdown.requested, added])
    api.announceShutdown()
    await sleep(config.application.drain_seconds * 1000)
    shutdown.startDeadline()
  } catch (error) {
    shutdown.fail(error)
    throw error
  } finally {
    await Promise.all([
      shutdown.closeWithin('api', { ms: 27_000, log }, () => api.close()),
      stopWorkers(service, pipeline),
    ])
  }
}

/** Throws Invalid if a folder that would become a library cannot be read: most likely its path is wrong. */
async function checkNewFolders({ sql }: Service, flags: Flags) {
  for (const path of flags.library) {
    const root = await rootBytes(path)
    if (await findEnclosingLibrary(sql, root)) continue
    await deviceOf(root).catch(error => {
      if (error instanceof Invalid) throw error
    })
  }
}

/** Throws Invalid if the address is not available. */
async function listen(
  server: FastifyInstance,
  { host, port }: { host: string; port: number },
): Promise<Listening> {
  try {
    await server.listen({ host, port })
    return listeningAt(server.server.address() as AddressInfo)
  } catch (error) {
    const address = `${host.includes(':') ? `[${host}]` : host}:${port}`
    throw cannotListen(address, 'application.host (--host) or application.port (--port)', error)
  }
}

async function announceStart(service: Service, listening: Listening, { open }: Flags) {
  const { sql, config, log, shutdown } = service
  const setupToken = await whenPossible(service, () => createSetupToken(sql))
  if (shutdown.isRequested()) return
  const start = { ...listening, config, setupToken }
  printStart(start, log)
  if (open) openBrowser(firstPage(start), log)
}

async function addLibraries(service: Service, pipeline: Pipeline, flags: Flags) {
  // All scans are requested before the first is followed, because its disk may not respond.
  const scans: (LibraryScan & { path: string })[] = []
  const hung: string[] = []
  for (const path of flags.library)
    await reportingFailures(path, async () => {
      const adding = whenPossible(service, () => addLibrary(service, pipeline, { path, flags }))
      const scan = await adding.catch(error => {
        if (error instanceof NotResponding) hung.push(path)
        throw error
      })
      if (scan) scans.push({ ...scan, path })
    })
  for (const scan of scans)
    await reportingFailures(scan.path, async () => {
      await whenPossible(service, () => printScan(service, pipeline, scan))
    })
  await Promise.all(hung.map(path => addWhenResponding(service, pipeline, { path, flags })))
}

async function addWhenResponding(service: Service, pipeline: Pipeline, folder: Folder) {
  const { shutdown } = service
  while (!shutdown.isRequested()) {
    await Promise.race([sleep(hungRetryMs), shutdown.requested])
    try {
      const scan = await whenPossible(service, () => addLibrary(service, pipeline, folder))
      if (scan)
        return await reportingFailures(folder.path, () => printScan(service, pipeline, scan))
    } catch (error) {
      if (error instanceof NotResponding) continue
      return await reportingFailures(folder.path, () => Promise.reject(error))
    }
  }
}

/** An unavailable folder must not prevent the others from being served. */
async function reportingFailures(path: string, work: () => Promise<void>) {
  try {
    await work()
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    const { message } = error
    const isNamed = message.includes(pathText(await rootBytes(path)))
    process.stderr.write(`stackroom: ${isNamed ? '' : `${path}: `}${message}\n`)
  }
}

type Folder = { path: string; flags: Flags }
type LibraryScan = { library: LibraryRow; scanId: string }

/** Adds the library if it is new, and requests a scan. */
async function addLibrary({ sql }: Service, pipeline: Pipeline, { path, flags }: Folder) {
  const root = await rootBytes(path)
  const { queue } = pipeline
  const library = await findEnclosingLibrary(sql, root)
  const request = { mode: 'normal' } as const
  const scan = library
    ? { library, scanId: await requestScan(sql, queue, { ...request, libraryId: library.id }) }
    : await createWithScan({ sql, queue }, libraryDraft(root, flags), request)
  pipeline.wake()
  return scan
}

async function printScan(service: Service, pipeline: Pipeline, { library, scanId }: LibraryScan) {
  const { shutdown } = service
  const stats = await trackScan(service, pipeline, {
    scanId,
    libraryId: library.id,
    printsRecords: false,
    paths: [],
    isStopped: shutdown.isRequested,
  })
  if (shutdown.isRequested()) return
  process.stdout.write(tableSummary(library, stats))
  if (stats.message) process.stdout.write(`${stats.message}\n`)
}

function collect(path: string, paths: string[]) {
  return [...paths, path]
}
