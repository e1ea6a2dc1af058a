// One cell: the documented commands in a clean root, from a fresh clone or the npm package, then the probe.
import { existsSync, mkdirSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { freePort } from '../../test/kit/ports.ts'
import { type Account, type Cell, cellName } from './cells.ts'
import { limitMemory } from './cgroup.ts'
import { startDatabase } from './databases.ts'
import { type Host, rootVariables, run, temporaryFolder } from './host.ts'
import { writeLibrary } from './library.ts'
import { type Checks, createChecks } from './probe/checks.ts'
import { checkInstallation } from './probe/installation.ts'
import type { LaunchedProcess } from './processes.ts'
import type { Row } from './report.ts'
import { createRoot } from './roots.ts'
import { openSandbox, type Sandbox } from './sandbox.ts'
import { fillFolder, ways } from './ways.ts'

const installSeconds = 900
const gigabyte = 2 ** 30

const accounts: Record<Account, { uid: number; home: string }> = {
  root: { uid: 0, home: '/root' },
  ordinary: { uid: 1000, home: '/home/reader' },
  // As `docker run --user 4242`: without an entry, a name or a folder of its own.
  unknown: { uid: 4242, home: '/' },
  'read-only': { uid: 1000, home: '/home/reader' },
  '1 GB': { uid: 1000, home: '/home/reader' },
}
const source = '/srv/stackroom'
const cache = '/var/cache/npm'
const data = '/var/lib/stackroom'
const books = '/srv/books'

export async function runCell(host: Host, work: string, cell: Cell): Promise<Row> {
  const began = performance.now()
  const checks = createChecks()
  const row = emptyRow(cell, checks)
  const root = join(temporaryFolder(work), 'root')
  const limit = cell.account === '1 GB' ? limitMemory(gigabyte) : null
  let sandbox: Sandbox | null = null
  let database: Awaited<ReturnType<typeof startDatabase>> | null = null
  try {
    await createRoot({ host, work, ...cell }, root)
    const isCold = await fill({ host, root, work, cell })
    row.ran = [isCold ? 'cold' : 'warm', 'probe', ...(cell.tests ?? [])].join(', ')
    sandbox = await openSandbox(root, limit?.procs)
    const { postgres } = cell
    database = postgres === 'bundled' ? null : await startDatabase(host, work, postgres)
    await runInSandbox({ host, work, cell, checks, row, sandbox, url: database?.url ?? null })
  } catch (error) {
    checks.failures.push((error as Error).message)
  } finally {
    await sandbox?.close()
    await database?.stop()
    await limit?.remove()
    rmSync(dirname(root), { recursive: true })
  }
  return { ...row, passed: checks.passed(), seconds: (performance.now() - began) / 1000 }
}

type Run = {
  host: Host
  work: string
  cell: Cell
  checks: Checks
  row: Row
  sandbox: Sandbox
  url: string | null
}

async function runInSandbox({ host, work, cell, checks, row, sandbox, url }: Run): Promise<void> {
  const user = accounts[cell.account]
  const variables = { ...rootVariables(host), npm_config_cache: cache }
  const launch = (command: string[]) => sandbox.launch(command, { user, variables, folder: source })
  const version = async (program: string) =>
    (await sandbox.run([program, '--version'], { user, variables })).trim()
  row.node = await version('node')
  row.npm = await version('npm')
  const port = await freePort()
  const where = ['--data', data, ...(url === null ? [] : ['--database-url', url])]
  const serve = ['--library', books, '--port', String(port)]
  const { install, program, ...way } = ways[cell.way ?? 'clone']
  const start = [way.start, ...where, ...serve].join(' ')
  const before = megabytes(join(sandbox.root, cache, '_cacache', 'content-v2'))
  const began = performance.now()
  const output: LaunchedProcess[] = []
  let server: LaunchedProcess
  if (cell.account === 'read-only') {
    const installation = launch(['sh', '-c', install])
    output.push(installation)
    await installation.exit
    await sandbox.protect(['/tmp', data])
    server = launch(['sh', '-c', start])
  } else {
    server = launch(['sh', '-c', `${install} && ${start}`])
  }
  output.push(server)
  await checkInstallation(
    checks,
    {
      ...{ base: `http://127.0.0.1:${port}`, library: books, where, serve },
      launch: args => launch(['sh', '-c', `exec ${program} "$@"`, 'sh', ...args]),
    },
    server,
    {
      startSeconds: installSeconds,
      onFirstPage: () => (row.firstPageSeconds = (performance.now() - began) / 1000),
    },
  )
  for (const file of cell.tests ?? [])
    await checks.check(`npm test -- ${file}`, async () => {
      const test = launch(['npm', 'test', '--', file, '--reporter=terse'])
      if ((await test.exit) !== 0) throw new Error(test.output().slice(-2_000))
    })
  row.downloadedMb = megabytes(join(sandbox.root, cache, '_cacache', 'content-v2')) - before
  const installed = [source, join(user.home, '.local')]
  row.diskMb = installed.reduce((sum, path) => sum + megabytes(join(sandbox.root, path)), 0)
  row.warnings = output.flatMap(({ output }) => warningsOf(output()))
  shareCache(join(sandbox.root, cache), work)
}

type Contents = Pick<Run, 'host' | 'work' | 'cell'> & { root: string }

/** Fresh clone or package, library, folder of the data, cache of npm; returns whether that is empty. */
async function fill({ host, root, work, cell }: Contents): Promise<boolean> {
  const { uid } = accounts[cell.account]
  fillFolder(cell.way ?? 'clone', join(root, source), work, host)
  await writeLibrary(join(root, books))
  mkdirSync(join(root, data))
  const shared = sharedCache(work)
  const isCold = cell.cold === true || !existsSync(shared)
  if (isCold) mkdirSync(join(root, cache))
  else run('cp', ['-a', shared, join(root, cache)])
  const owned = [source, cache, data].map(folder => join(root, folder))
  run('chown', ['-R', `${uid}:${uid}`, ...owned])
  return isCold
}

const sharedCache = (work: string) => join(work, 'npm-cache')

function shareCache(from: string, work: string): void {
  if (!existsSync(sharedCache(work))) run('cp', ['-a', from, sharedCache(work)])
}

function megabytes(folder: string): number {
  if (!existsSync(folder)) return 0
  return Number(run('du', ['-sk', folder]).split('\t')[0]) / 1024
}

/** Lines that are warnings of npm, of Node.js or of the server. */
const warningsOf = (output: string): string[] =>
  output.split('\n').filter(line => /\bwarn(ing)?\b|"level":[456]0/i.test(line))

const emptyRow = (cell: Cell, { failures }: Checks): Row => ({
  ...{ cell: cellName(cell), node: '–', npm: '–', passed: 0, failures, seconds: 0 },
  ran: '–',
  ...{ firstPageSeconds: null, downloadedMb: null, diskMb: null, warnings: [] },
})
