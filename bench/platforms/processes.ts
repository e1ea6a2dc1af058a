// Processes of a cell: a command with its output, and its Node.js child processes.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, readlinkSync } from 'node:fs'
import { basename } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { childrenOf } from '../kill/postgres.ts'

export type LaunchedProcess = ReturnType<typeof launchProcess>
type Options = { cwd?: string; env?: NodeJS.ProcessEnv }

const running = new Set<ChildProcess>()
process.on('exit', () => {
  for (const child of running) child.kill('SIGTERM')
})

export function launchProcess(file: string, args: string[], options: Options = {}) {
  const child = spawn(file, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] })
  running.add(child)
  let stdout = ''
  let all = ''
  child.stdout.on('data', chunk => {
    stdout += chunk
    all += chunk
  })
  child.stderr.on('data', chunk => (all += chunk))
  const exit = once(child, 'close').then(
    ([code]) => code as number | null,
    (error: Error) => {
      all += error.message
      return null
    },
  )
  exit.then(() => running.delete(child))
  const kill = (signal: NodeJS.Signals) => {
    // A launcher may have started the server, and npm the launcher.
    const servers = child.pid ? descendants(child.pid).filter(isServer) : []
    for (const pid of signal === 'SIGKILL' ? servers : servers.slice(0, 1)) killProcess(pid, signal)
  }
  return {
    pid: () => child.pid ?? 0,
    exit,
    hasExited: () => !running.has(child) || child.exitCode !== null,
    stdout: () => stdout,
    output: () => all,
    /** For a program other than Stackroom. */
    interrupt: () => void child.kill('SIGINT'),
    kill,
    /** Ends a server that may not respond any more. */
    async stop() {
      kill('SIGTERM')
      if ((await Promise.race([exit, sleep(10_000, 'late', { ref: false })])) !== 'late') return
      kill('SIGKILL')
      await exit
    },
  }
}

/** The process and all below it, from the top. */
function descendants(pid: number): number[] {
  return [pid, ...childrenOf(pid).flatMap(descendants)]
}

function isServer(pid: number): boolean {
  try {
    const isNode = basename(readlinkSync(`/proc/${pid}/exe`)).startsWith('node')
    return (
      isNode &&
      /cmd\/(main\.[jt]s|stackroom\.mjs)/.test(readFileSync(`/proc/${pid}/cmdline`, 'latin1'))
    )
  } catch {
    return false
  }
}

function killProcess(pid: number, signal: NodeJS.Signals) {
  try {
    process.kill(pid, signal)
  } catch {
    // It has ended.
  }
}
