// Configuration problems, collected so that all are reported at once.
import { Invalid } from '../../base/errors.ts'

export type Problems = ReturnType<typeof collectProblems>

export function collectProblems() {
  const messages: string[] = []
  return {
    /** The result of `work`; undefined if it throws Invalid, which is collected. */
    attempt<T>(work: () => T): T | undefined {
      try {
        return work()
      } catch (error) {
        if (!(error instanceof Invalid)) throw error
        messages.push(error.message)
        return undefined
      }
    },
    /** Throws Invalid with all problems, one per line. */
    throwIfAny(): void {
      const [first, ...others] = messages
      if (first === undefined) return
      throw new Invalid(
        others.length === 0
          ? first
          : `the configuration has ${messages.length} problems:${messages.map(m => `\n  ${m}`).join('')}`,
      )
    },
  }
}
