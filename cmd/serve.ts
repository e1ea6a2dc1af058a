// stackroom serve: the API and the pipeline in one process.
import { Command } from 'commander'
import { openServer } from '../lib/api/server.ts'
import { createLibrary, libraryAround, rootBytes } from '../lib/catalog/library.ts'
import { newSetupToken } from '../lib/setup-token.ts'
import { type Pipeline, startPipeline } from '../pipeline/index.ts'
import { requestScan } from '../pipeline/scan.ts'
import {
  type CommonFlags,
  commonOptions,
  type Stackroom,
  untilSignal,
  withStackroom,
} from './open.ts'
import { followScan } from './scan/follow.ts'
import { tableSummary } from './scan/summary.ts'

type Flags = CommonFlags & { host?: string; port?: string; library: string[]; workers: boolean }

export function serveCommand(): Command {
  return commonOptions(new Command('serve'))
    .description('serve the library')
    .option('--host <address>', 'address to listen on')
    .option('-p, --port <port>', 'port to listen on')
    .option(
      '-l, --library <path>',
      'a folder of books to add and scan; may be given again',
      collect,
      [],
    )
    .option('--no-workers', 'only the API; the pipeline runs elsewhere')
    .action(run)
}

async function run(flags: Flags) {
  const settings = { 'application.host': flags.host, 'application.port': flags.port }
  await withStackroom(flags, { quiet: false, settings }, async stackroom => {
    const { config, sql, log } = stackroom
    const server = openServer({ sql, log })
    const address = await server.listen({
      host: config.application.host,
      port: config.application.port,
    })
    process.stdout.write(`Stackroom listens on ${address}\n`)
    const token = await newSetupToken(sql)
    if (token)
      process.stdout.write(
        `Setup token (valid once, until the first administrator is made): ${token}\n`,
      )
    const pipeline = flags.workers ? await startPipeline(stackroom) : null
    let stopping = false
    const ended = untilSignal().then(() => {
      stopping = true
    })
    const added = pipeline
      ? addLibraries(stackroom, pipeline, flags.library, () => stopping)
      : Promise.resolve()
    await Promise.all([ended, added])
    await server.close()
    await pipeline?.close()
  })
}

async function addLibraries(
  stackroom: Stackroom,
  pipeline: Pipeline,
  paths: string[],
  stopped: () => boolean,
) {
  for (const path of paths) {
    const root = rootBytes(path)
    const library =
      (await libraryAround(stackroom.sql, root)) ?? (await createLibrary(stackroom.sql, { root }))
    const scanId = await requestScan(stackroom.sql, pipeline.queue, {
      libraryId: library.id,
      mode: 'normal',
    })
    pipeline.wake()
    const figures = await followScan(stackroom, pipeline, {
      scanId,
      libraryId: library.id,
      records: false,
      inside: null,
      stopped,
    })
    if (stopped()) return
    process.stdout.write(tableSummary(library, figures))
    if (figures.message) process.stdout.write(`${figures.message}\n`)
  }
}

function collect(path: string, paths: string[]) {
  return [...paths, path]
}
