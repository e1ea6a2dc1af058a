// Health checks on the metrics server of `worker` and `serve`: start, loss of the database, shutdown.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { startPostgres } from '../../lib/store/postgres/embedded/embedded.ts'
import { preparedDataDirectory } from '../kit/files/data-directory.ts'
import { temporaryFolder } from '../kit/files/folders.ts'
import { freePort } from '../kit/ports.ts'
import { processes, waitUntil } from '../kit/processes.ts'

const launcher = join(import.meta.dirname, '..', '..', 'cmd', 'stackroom.mjs')

t.jobs = 3

/** Status and body of a health check; status 0 while nothing listens. */
async function ask(base: string, check: string) {
  try {
    const response = await fetch(`${base}/health/${check}`)
    return { status: response.status, body: (await response.json()) as Record<string, unknown> }
  } catch {
    return { status: 0, body: {} }
  }
}

async function metricsAddress() {
  const address = `127.0.0.1:${await freePort()}`
  return { base: `http://${address}`, variables: { STACKROOM_METRICS__BIND: address } }
}

/** Answers of /health/ready after SIGTERM, until the process has ended. */
async function answersUntilEnd(base: string, terminate: () => Promise<unknown>) {
  const answers: Awaited<ReturnType<typeof ask>>[] = []
  let hasEnded = false
  const ending = terminate().then(() => {
    hasEnded = true
  })
  while (!hasEnded) answers.push(await ask(base, 'ready'))
  await ending
  const first = answers.findIndex(({ status }) => status === 503)
  return first < 0 ? [] : answers.slice(first).filter(({ status }) => status !== 0)
}

t.test('a worker is ready until its shutdown is requested', async t => {
  const { base, variables } = await metricsAddress()
  const { worker } = await processes(t, variables)
  const process = await worker()
  for (const check of ['ready', 'startup', 'live'])
    t.match(await ask(base, check), { status: 200, body: { status: 'ok', message: null } }, check)
  const answers = await answersUntilEnd(base, process.terminate)
  t.ok(
    answers.every(({ status }) => status === 503),
    'it never becomes ready again',
  )
  for (const { body } of answers) t.match(body, { message: 'The server is shutting down' })
})

t.test('a worker without its database is alive but not ready', async t => {
  const database = await startPostgres({ dataDir: await preparedDataDirectory(t) })
  const { base, variables } = await metricsAddress()
  startWorker(t, database.url, variables)
  await waitUntil(async () => (await ask(base, 'ready')).status === 200)
  await database.stop()
  await waitUntil(async () => (await ask(base, 'ready')).status === 503)
  t.match(await ask(base, 'ready'), {
    body: { status: 'degraded', message: 'The database is not available' },
  })
  t.equal((await ask(base, 'live')).status, 200)
  t.equal((await ask(base, 'startup')).status, 200)
})

t.test('a server answers there as on its main port, also while it drains', async t => {
  const { base, variables } = await metricsAddress()
  const { serve } = await processes(t, {
    ...variables,
    STACKROOM_APPLICATION__DRAIN_SECONDS: '1',
  })
  const server = await serve()
  await waitUntil(async () => (await ask(base, 'ready')).status === 200)
  for (const check of ['ready', 'live'])
    t.strictSame(await ask(base, check), await ask(server.base, check), check)
  const answers = await answersUntilEnd(base, server.terminate)
  t.ok(answers.length > 0, 'the drain is long enough to be seen')
  for (const { status, body } of answers)
    t.match({ status, body }, { status: 503, body: { message: 'The server is shutting down' } })
})

function startWorker(t: Test, url: string, variables: Record<string, string>) {
  const args = [launcher, 'worker', '--database-url', url, '--data', temporaryFolder(t)]
  const env = { PATH: process.env.PATH, HOME: process.env.HOME, ...variables }
  const child = spawn(process.execPath, args, { env, stdio: 'ignore' })
  t.teardown(async () => {
    child.kill('SIGKILL')
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  })
}
