// PostgreSQL server process: postmaster.pid, start, shutdown.
//
// postmaster.pid, one value per line:
//   pid, data directory, start time, port, socket directory, listen address, shmem key, status
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import {
  closeSync,
  existsSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  truncateSync,
} from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Conflict, Invalid } from '../../../base/errors.ts'
import { withoutPostgresVariables } from '../environment.ts'
import type { Binaries } from './binaries.ts'
import { missingLibraryMessage } from './missing-library.ts'
import { type OsUser, programPath, runAs } from './os-user.ts'

/** `host` is the socket directory, or 127.0.0.1 on Windows. */
export type RunningServer = { pid: number; host: string; port: number; isReady: boolean }

const windows = process.platform === 'win32'
const maxLogBytes = 10 * 1024 * 1024
// Replaying the WAL after a crash can take minutes on a slow disk.
const startMs = 600_000

/** Contents of postmaster.pid, which may be stale; null without the file. */
export function readPostmaster(cluster: string): RunningServer | null {
  let lines: string[]
  try {
    lines = readFileSync(join(cluster, 'postmaster.pid'), 'utf8').split('\n')
  } catch {
    return null
  }
  const [pid, , , port, socket, , , status] = lines.map(line => line.trim())
  const isReady = status === 'ready'
  return { pid: Number(pid), host: socket || '127.0.0.1', port: Number(port), isReady }
}

/**
 * The server's socket directory as visible to this process: that of a service with a private /tmp is reached
 * through /proc. Null if there is no socket.
 */
export function findSocket({ pid, host, port }: RunningServer): string | null {
  if (windows) return host
  const candidates = [host, `/proc/${pid}/root${host}`]
  return candidates.find(path => existsSync(join(path, `.s.PGSQL.${port}`))) ?? null
}

/** Whether process `pid` is the server of `cluster` rather than an unrelated process with a reused pid. */
export function isServer(pid: number, cluster: string): boolean {
  if (!isAlive(pid)) return false
  try {
    return commandLine(pid).includes(windows ? 'postgres' : `-D ${cluster}`)
  } catch {
    return false
  }
}

export function isAlive(pid: number): boolean {
  if (!Number.isInteger(pid) || pid <= 0) return false
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

type LaunchOptions = {
  binaries: Binaries
  user: OsUser
  logFile: string
  /** Stops the server during startup. */
  signal?: AbortSignal | undefined
}

/** Starts the server and waits until it is ready. Throws Invalid with the end of its log, or when aborted. */
export async function launch(
  cluster: string,
  { binaries, user, logFile, signal }: LaunchOptions,
): Promise<RunningServer> {
  killOrphans(cluster)
  if ((statSync(logFile, { throwIfNoEntry: false })?.size ?? 0) > maxLogBytes) {
    truncateSync(logFile)
  }
  const logOffset = statSync(logFile, { throwIfNoEntry: false })?.size ?? 0
  const child = spawnServer(cluster, { binaries, user, logFile })
  let failure: { cause?: unknown } | null = null
  child.on('error', cause => {
    failure = { cause }
  })
  child.on('exit', status => {
    // pg_ctl exits as soon as it has started the server.
    if (!windows || status !== 0) failure = {}
  })
  const deadline = performance.now() + startMs
  while (!failure && !signal?.aborted && performance.now() < deadline) {
    const running = readPostmaster(cluster)
    if (running?.isReady && isAlive(running.pid)) {
      child.unref()
      return running
    }
    await sleep(10)
  }
  if (signal?.aborted && !failure && child.pid)
    await shutDown(cluster, readPostmaster(cluster)?.pid ?? child.pid, binaries.native)
  const end = tail(logFile, logOffset)
  const hint = /lock file ".*" already exists/.test(end)
    ? '\nThe data directory was replaced while a server was using it: stop that server first.'
    : ''
  const message =
    missingLibraryMessage(end) ?? `PostgreSQL did not start in ${cluster}: ${end}${hint}`
  throw new Invalid(message, failure ?? {})
}

/** Fast shutdown; after ten seconds immediate shutdown, which requires recovery at the next start. */
export async function shutDown(cluster: string, pid: number, native: string): Promise<void> {
  if (windows) {
    const args = ['stop', '-D', cluster, '-m', 'fast', '-w']
    execFileSync(programPath(native, 'pg_ctl'), args, { stdio: 'ignore' })
    return
  }
  for (const [signal, ms] of [
    ['SIGINT', 10_000],
    ['SIGQUIT', 10_000],
    ['SIGKILL', 2000],
  ] as const) {
    if (!isServer(pid, cluster)) return
    process.kill(pid, signal)
    const deadline = performance.now() + ms
    while (performance.now() < deadline) {
      // In a container without init the process may remain as a zombie, which has no command line on Linux.
      if (!isAlive(pid) || (process.platform === 'linux' && !isServer(pid, cluster))) return
      await sleep(10)
    }
  }
  if (isServer(pid, cluster)) throw new Conflict(`PostgreSQL (process ${pid}) cannot be stopped`)
}

/**
 * Kills processes left behind by a dead server: a busy one notices late that its server has ended, and its
 * shared memory prevents a new one from starting. All of them have the cluster as working directory.
 */
function killOrphans(cluster: string) {
  if (process.platform !== 'linux') return
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue
    try {
      if (readlinkSync(`/proc/${name}/cwd`) !== cluster) continue
      if (commandLine(Number(name)).startsWith('postgres: ')) process.kill(Number(name), 'SIGKILL')
    } catch {
      // Ended, or of another user.
    }
  }
}

function spawnServer(
  cluster: string,
  { binaries, user, logFile }: { binaries: Binaries; user: OsUser; logFile: string },
): ChildProcess {
  const env = { ...withoutPostgresVariables(), ...binaries.env, LC_ALL: 'C' }
  // PostgreSQL refuses to run with administrator rights on Windows; pg_ctl drops them.
  const [name, args] = windows
    ? (['pg_ctl', ['start', '-D', cluster, '-l', logFile, '-W']] as const)
    : (['postgres', ['-D', cluster]] as const)
  const command = runAs(user, programPath(binaries.native, name), [...args])
  const log = windows ? ('ignore' as const) : openSync(logFile, 'a', 0o600)
  try {
    // Detached, because Ctrl-C is sent to the whole process group and would stop the database first.
    return spawn(command.file, command.args, {
      ...command.options,
      cwd: windows ? cluster : '/',
      env,
      detached: true,
      stdio: ['ignore', log, log],
    })
  } finally {
    if (typeof log === 'number') closeSync(log)
  }
}

function commandLine(pid: number): string {
  if (process.platform === 'linux') {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')
  }
  const [file, args] = windows
    ? (['tasklist', ['/FI', `PID eq ${pid}`]] as const)
    : (['ps', ['-o', 'command=', '-p', String(pid)]] as const)
  return execFileSync(file, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
}

function tail(path: string, from: number): string {
  if (!existsSync(path)) return 'there is no log'
  const text = readFileSync(path).subarray(from).toString('utf8').trim()
  return text.slice(-1500) || `see ${path}`
}
