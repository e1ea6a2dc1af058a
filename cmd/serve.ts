// stackroom serve: the API and the pipeline in one process.
import { setTimeout as sleep } from 'node:timers/promises'
import { Command } from 'commander'
import type { FastifyInstance } from 'fastify'
import { openApi } from '../lib/api/open.ts'
import { newSetupToken } from '../lib/auth/setup-token.ts'
import { createLibrary, libraryAround, rootBytes } from '../lib/catalog/library/library.ts'
import { requestScan } from '../lib/catalog/scan/scan-request.ts'
import { Failure, Invalid } from '../lib/errors.ts'
import type { Pipeline } from '../pipeline/pipeline.ts'
import { type CommonFlags, commonOptions } from './context.ts'
import { endWork, type Running, startWork, whileRunning } from './lifecycle.ts'
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
  await whileRunning(flags, settings, running => serve(running, flags))
}

/**
 * Until it is told to end. Then it goes on for as long as others are to take to notice, and lets running
 * requests and the work at hand end. What waits is done after the next start.
 */
async function serve(serving: Running, flags: Flags) {
  const { ending, config, log } = serving
  const api = await openApi(serving)
  let pipeline: Pipeline | null = null
  try {
    const address = await listen(api.server, config.application)
    process.stdout.write(`Stackroom listens on ${address}\n`)
    const token = await newSetupToken(serving.sql)
    if (token)
      process.stdout.write(
        `Setup token (valid once, until the first administrator is made): ${token}\n`,
      )
    if (flags.workers) pipeline = await startWork(serving)
    const added = pipeline && addLibraries(serving, pipeline, flags.library)
    await Promise.all([ending.asked, added])
    api.leave()
    await sleep(config.application.drain_seconds * 1000)
  } finally {
    ending.hurry()
    await Promise.all([
      ending.inTime('api', { ms: 27_000, log }, () => api.close()),
      endWork(serving, pipeline),
    ])
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

async function addLibraries(serving: Running, pipeline: Pipeline, paths: string[]) {
  for (const path of paths) {
    if (serving.ending.isAsked()) return
    try {
      await addLibrary(serving, pipeline, path)
    } catch (error) {
      // One folder that is away must not keep the others from being served.
      if (!(error instanceof Failure)) throw error
      process.stderr.write(`stackroom: ${path}: ${error.message}\n`)
    }
  }
}

async function addLibrary({ sql, ending, ...rest }: Running, pipeline: Pipeline, path: string) {
  const root = rootBytes(path)
  const library = (await libraryAround(sql, root)) ?? (await createLibrary(sql, { root }))
  const request = { libraryId: library.id, mode: 'normal' } as const
  const scanId = await requestScan(sql, pipeline.queue, request)
  pipeline.wake()
  const figures = await followScan({ sql, ...rest }, pipeline, {
    scanId,
    libraryId: library.id,
    records: false,
    inside: [],
    stopped: ending.isAsked,
  })
  if (ending.isAsked()) return
  process.stdout.write(tableSummary(library, figures))
  if (figures.message) process.stdout.write(`${figures.message}\n`)
}

function collect(path: string, paths: string[]) {
  return [...paths, path]
}
