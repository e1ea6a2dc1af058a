// A pause that may end early.

export function openBell() {
  let wakeUp = () => {}
  return {
    ring: () => wakeUp(),
    /** Resolves after so many milliseconds, or at the next ring. */
    wait(ms: number): Promise<void> {
      return new Promise(resolve => {
        const timer = setTimeout(() => wakeUp(), ms)
        wakeUp = () => {
          clearTimeout(timer)
          wakeUp = () => {}
          resolve()
        }
      })
    },
  }
}
