// The server process: where it is, how it starts, how it ends.
//
// postmaster.pid, one value per line:
//   pid, data directory, start time, port, socket directory, listen address, shmem key, status
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { closeSync, existsSync, openSync, readFileSync, statSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Conflict, Invalid } from '../../errors.ts'
import type { Binaries } from './binaries.ts'
import { type Account, programPath, runAs } from './os-user.ts'

/** `host` is the socket directory, or 127.0.0.1 on Windows. */
export type Running = { pid: number; host: string; port: number; isReady: boolean }

const windows = process.platform === 'win32'
const maxLogBytes = 10 * 1024 * 1024
// Replaying the log after a crash can take minutes on a slow disk.
const startMs = 600_000

/** What postmaster.pid says, which may be stale; null without one. */
export function readPostmaster(cluster: string): Running | null {
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
 * The server's socket directory as this process sees it: a unit with a private /tmp is reached
 * through /proc. Null when the socket is nowhere.
 */
export function findSocket({ pid, host, port }: Running): string | null {
  if (windows) return host
  const seen = [host, `/proc/${pid}/root${host}`]
  return seen.find(path => existsSync(join(path, `.s.PGSQL.${port}`))) ?? null
}

/** Whether process `pid` is the server of `cluster`, not a stranger that got the number later. */
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

/** Starts the server and waits until it answers. Throws Invalid with the end of its log. */
export async function launch(
  cluster: string,
  { binaries, account, logFile }: { binaries: Binaries; account: Account; logFile: string },
): Promise<Running> {
  if ((statSync(logFile, { throwIfNoEntry: false })?.size ?? 0) > maxLogBytes) {
    truncateSync(logFile)
  }
  const from = statSync(logFile, { throwIfNoEntry: false })?.size ?? 0
  const child = begin(cluster, { binaries, account, logFile })
  let end: { cause?: unknown } | null = null
  child.on('error', cause => {
    end = { cause }
  })
  child.on('exit', status => {
    // pg_ctl ends as soon as it has started the server.
    if (!windows || status !== 0) end = {}
  })
  const deadline = performance.now() + startMs
  while (!end && performance.now() < deadline) {
    const running = readPostmaster(cluster)
    if (running?.isReady && isAlive(running.pid)) {
      child.unref()
      return running
    }
    await sleep(10)
  }
  throw new Invalid(`PostgreSQL did not start: ${tail(logFile, from)}`, end ?? {})
}

/** Fast shutdown; after ten seconds the harder one, which costs a replay at the next start. */
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
      // In a container nobody may reap the process; on Linux a zombie has no command line.
      if (!isAlive(pid) || (process.platform === 'linux' && !isServer(pid, cluster))) return
      await sleep(10)
    }
  }
  if (isServer(pid, cluster)) throw new Conflict(`PostgreSQL (process ${pid}) does not stop`)
}

function begin(
  cluster: string,
  { binaries, account, logFile }: { binaries: Binaries; account: Account; logFile: string },
): ChildProcess {
  const env = { ...process.env, ...binaries.env, LC_ALL: 'C' }
  // PostgreSQL refuses Windows administrators; pg_ctl drops their rights first.
  const [name, args] = windows
    ? (['pg_ctl', ['start', '-D', cluster, '-l', logFile, '-W']] as const)
    : (['postgres', ['-D', cluster]] as const)
  const command = runAs(account, programPath(binaries.native, name), [...args])
  const log = windows ? ('ignore' as const) : openSync(logFile, 'a', 0o600)
  try {
    // Detached: Ctrl-C goes to the whole process group and would take the database first.
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
  if (!existsSync(path)) return 'it left no log'
  const text = readFileSync(path).subarray(from).toString('utf8').trim()
  return text.slice(-1500) || `see ${path}`
}
