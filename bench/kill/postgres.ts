// Simulated power loss of the embedded PostgreSQL: SIGKILL to all of its processes at once.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { isAlive, isServer, readPostmaster } from '../../lib/store/postgres/embedded/server.ts'

/** Linux only; elsewhere the first process dies alone, and the others follow it. */
export async function killPostgres(data: string) {
  const cluster = join(data, 'postgres')
  const running = readPostmaster(cluster)
  if (!running || !isServer(running.pid, cluster)) return
  for (const pid of [running.pid, ...childrenOf(running.pid)]) {
    try {
      process.kill(pid, 'SIGKILL')
    } catch {
      // Gone with its parent.
    }
  }
  for (let left = 200; left > 0 && isAlive(running.pid) && isServer(running.pid, cluster); left--) {
    await sleep(10)
  }
}

/** Linux only. */
export function childrenOf(parent: number): number[] {
  if (process.platform !== 'linux') return []
  return readdirSync('/proc')
    .filter(name => /^\d+$/.test(name))
    .map(Number)
    .filter(pid => {
      try {
        // pid (name) state ppid …; the name may hold anything but ends at the last bracket.
        const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
        return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]) === parent
      } catch {
        return false
      }
    })
}
