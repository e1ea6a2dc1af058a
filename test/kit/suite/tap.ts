// What a test file of a suite gets for `import t from 'tap'`: its own subtest. Every file gets its own
// instance of this module (see run.ts).
import { currentTest } from './current.ts'

const t = currentTest()

export default t
export const test = t.test
