// File descriptors that a process may still open, changed while it runs.
import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'

const prlimit = (args: string[]) => spawnSync('prlimit', args).status === 0

export const canLimitDescriptors: boolean = process.platform === 'linux' && prlimit(['--version'])

/** Leaves the process this many descriptors to open. Returns a function that lifts the limit. */
export function leaveDescriptors(pid: number, count: number): () => void {
  const used = new Set(readdirSync(`/proc/${pid}/fd`).map(Number))
  // The limit is on the number of a descriptor, and the lowest free number is taken.
  let limit = 0
  for (let free = 0; free < count || used.has(limit); limit += 1) if (!used.has(limit)) free += 1
  const set = (soft: number) => {
    if (!prlimit(['--pid', `${pid}`, `--nofile=${soft}:`]))
      throw new Error('The limit cannot be set')
  }
  set(limit)
  return () => set(1_024)
}
