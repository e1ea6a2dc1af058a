// A limit of memory for a group of processes, by cgroups of version 1 or 2.
import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { poll } from './probe/client.ts'

/** `procs` takes the ids of processes. Throws where this machine does not permit it. */
export function limitMemory(bytes: number) {
  const own = readFileSync('/proc/self/cgroup', 'utf8').split('\n')
  const pathOf = (controller: string) =>
    own
      .map(line => line.split(':'))
      .find(([, names]) => names?.split(',').includes(controller))?.[2]
  const versionOne = pathOf('memory')
  const mount = versionOne === undefined ? '/sys/fs/cgroup' : '/sys/fs/cgroup/memory'
  const group = join(mount, versionOne ?? pathOf('') ?? '/', `stackroom-platforms-${process.pid}`)
  mkdirSync(group)
  try {
    const file = versionOne === undefined ? 'memory.max' : 'memory.limit_in_bytes'
    if (!existsSync(join(group, file))) throw new Error('This cgroup does not control memory')
    writeFileSync(join(group, file), String(bytes))
  } catch (error) {
    rmdirSync(group)
    throw error
  }
  return {
    procs: join(group, 'cgroup.procs'),
    /** After its processes have ended. */
    remove: () =>
      poll(10, async () => {
        rmdirSync(group)
        return true
      }),
  }
}
