// Black-box checks of a running Stackroom with the library of library.ts, over HTTP alone:
//   node bench/platforms/probe/main.ts http://127.0.0.1:8080
// Uses nothing but fetch and modules of Node.js.

import { createChecks } from './checks.ts'
import { checkServer } from './server.ts'

const [base] = process.argv.slice(2)
if (base === undefined) {
  process.stderr.write('usage: node bench/platforms/probe/main.ts URL\n')
  process.exit(2)
}
const checks = createChecks((name, problem) =>
  process.stdout.write(problem === null ? `ok      ${name}\n` : `FAILED  ${name}: ${problem}\n`),
)
await checkServer(checks, base.replace(/\/$/, ''))
process.stdout.write(`${checks.passed()} passed, ${checks.failures.length} failed\n`)
process.exitCode = checks.failures.length > 0 ? 1 : 0
