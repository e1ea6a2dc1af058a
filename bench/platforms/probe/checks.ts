// Named checks: each is counted, and a failure does not stop the next ones.

export type Checks = ReturnType<typeof createChecks>

/** With `onCheck` each check is reported as it ends. */
export function createChecks(onCheck: (name: string, problem: string | null) => void = () => {}) {
  const failures: string[] = []
  let passed = 0
  return {
    failures,
    passed: () => passed,
    async check(name: string, run: () => unknown): Promise<void> {
      try {
        await run()
        passed += 1
        onCheck(name, null)
      } catch (error) {
        const problem = error instanceof Error ? error.message : String(error)
        failures.push(`${name}: ${problem}`)
        onCheck(name, problem)
      }
    },
  }
}

/** Throws unless both are equal as JSON. */
export function expectEqual(actual: unknown, expected: unknown, what: string): void {
  const [is, should] = [JSON.stringify(actual), JSON.stringify(expected)]
  if (is !== should) throw new Error(`${what} is ${is?.slice(0, 300)} instead of ${should}`)
}

export function expectTrue(condition: boolean, problem: string): void {
  if (!condition) throw new Error(problem)
}
