// Processor time of a PostgreSQL server on this machine: all its sessions and the workers of their parallel
// queries. Linux only; a busy machine hardly changes it.
import { readdirSync, readFileSync } from 'node:fs'
import type { Sql } from '../../lib/store/postgres/db.ts'

const tickMs = 10

const isBackground = /checkpointer|background writer|walwriter|autovacuum|logical|io worker/

export type ProcessorClock = {
  /** Milliseconds so far; always 0 without access to the processes. */
  now(): number
  /** Looks for new sessions. */
  refresh(): void
}

export async function openProcessorClock(sql: Sql): Promise<ProcessorClock> {
  const [row] = await sql<{ pid: number }[]>`select pg_backend_pid() as pid`
  const parent = Number(statOf(row!.pid)?.[1] ?? 0)
  let sessions: number[] = []
  return {
    refresh() {
      if (parent > 0) sessions = childrenOf(parent).filter(isSession)
    },
    now() {
      if (parent === 0) return 0
      // Parallel workers that have ended.
      const ended = statOf(parent)!
      const ms = (Number(ended[13]) + Number(ended[14])) * tickMs
      return sessions.reduce((sum, pid) => sum + workOf(pid), ms)
    },
  }
}

function workOf(pid: number): number {
  try {
    return Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[0]) / 1e6
  } catch {
    return 0
  }
}

function isSession(pid: number): boolean {
  try {
    return !isBackground.test(readFileSync(`/proc/${pid}/cmdline`, 'utf8'))
  } catch {
    return false
  }
}

/** Fields of /proc/PID/stat after the name: state, parent, …; null without the process. */
function statOf(pid: number): string[] | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return text.slice(text.lastIndexOf(')') + 2).split(' ')
  } catch {
    return null
  }
}

function childrenOf(parent: number): number[] {
  return readdirSync('/proc')
    .map(Number)
    .filter(pid => pid > 0 && Number(statOf(pid)?.[1]) === parent)
}
