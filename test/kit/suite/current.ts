// The subtest of the test file that is being loaded.
import tap, { type Test } from 'tap'

let current: Test = tap

export const currentTest = (): Test => current

export function setCurrentTest(t: Test): void {
  current = t
}
