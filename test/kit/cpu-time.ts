// CPU time of synchronous work, the shortest of three runs: garbage and other work of the process count, too.
export function cpuMs(work: () => void): number {
  let shortest = Number.POSITIVE_INFINITY
  // One run suffices for fast work.
  for (let i = 0; i < 3 && shortest > 50; i++) {
    const before = process.cpuUsage()
    work()
    const { user, system } = process.cpuUsage(before)
    shortest = Math.min(shortest, (user + system) / 1000)
  }
  return shortest
}
