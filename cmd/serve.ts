// stackroom serve: the API and the pipeline in one process.
import { Command } from 'commander'
import type { FastifyInstance } from 'fastify'
import { openApi } from '../lib/api/open.ts'
import { createLibrary, libraryAround, rootBytes } from '../lib/catalog/library/library.ts'
import { requestScan } from '../lib/catalog/library/scan-request.ts'
import { Failure, Invalid } from '../lib/errors.ts'
import { openQueue, type Queue } from '../lib/jobs.ts'
import { newSetupToken } from '../lib/setup-token.ts'
import { type Pipeline, startPipeline } from '../pipeline/index.ts'
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
    const { sql, log } = stackroom
    const ended = untilSignal()
    const queue = await openQueue(sql, error => log.error({ err: error }, 'queue'))
    try {
      await serve({ ...stackroom, queue }, flags, ended)
    } finally {
      await queue.close()
    }
  })
}

type Serving = Stackroom & { queue: Queue }

/** Until `ended`; then running requests end, then the work at hand. What waits is done after the next start. */
async function serve(serving: Serving, flags: Flags, ended: Promise<unknown>) {
  const api = await openApi(serving)
  let pipeline: Pipeline | null = null
  try {
    const address = await listen(api.server, serving.config.application)
    process.stdout.write(`Stackroom listens on ${address}\n`)
    const token = await newSetupToken(serving.sql)
    if (token)
      process.stdout.write(
        `Setup token (valid once, until the first administrator is made): ${token}\n`,
      )
    if (flags.workers) pipeline = await startPipeline(serving)
    let stopping = false
    const stopped = ended.then(() => {
      stopping = true
    })
    const added = pipeline && addLibraries(serving, pipeline, flags.library, () => stopping)
    await Promise.all([stopped, added])
  } finally {
    await api.close()
    await pipeline?.close()
  }
}

/** The address that was taken. Throws Invalid when it cannot be had. */
async function listen(server: FastifyInstance, { host, port }: { host: string; port: number }) {
  try {
    return await server.listen({ host, port })
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new Invalid(`Cannot listen on ${host}, port ${port} (${code ?? error})`, { cause: error })
  }
}

async function addLibraries(
  stackroom: Stackroom,
  pipeline: Pipeline,
  paths: string[],
  stopped: () => boolean,
) {
  for (const path of paths) {
    if (stopped()) return
    try {
      await addLibrary(stackroom, pipeline, path, stopped)
    } catch (error) {
      // One folder that is away must not keep the others from being served.
      if (!(error instanceof Failure)) throw error
      process.stderr.write(`stackroom: ${path}: ${error.message}\n`)
    }
  }
}

async function addLibrary(
  { sql, ...rest }: Stackroom,
  pipeline: Pipeline,
  path: string,
  stopped: () => boolean,
) {
  const root = rootBytes(path)
  const library = (await libraryAround(sql, root)) ?? (await createLibrary(sql, { root }))
  const request = { libraryId: library.id, mode: 'normal' } as const
  const scanId = await requestScan(sql, pipeline.queue, request)
  pipeline.wake()
  const figures = await followScan({ sql, ...rest }, pipeline, {
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

function collect(path: string, paths: string[]) {
  return [...paths, path]
}
