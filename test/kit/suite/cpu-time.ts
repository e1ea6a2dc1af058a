// CPU time of the thread that runs the tests, which does not grow while the machine is busy with other work.

/** Milliseconds since the start of the thread; of the whole process before Node 23.9. */
export function cpuMs(): number {
  const { threadCpuUsage } = process as { threadCpuUsage?: typeof process.cpuUsage }
  const { user, system } = (threadCpuUsage ?? process.cpuUsage)()
  return (user + system) / 1000
}
