// CPU time of the thread that runs the tests, which does not grow while the machine is busy with other work.

/** Milliseconds since the start of the thread. */
export function cpuMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}
