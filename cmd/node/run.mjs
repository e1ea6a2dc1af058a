// @ts-check
// Runs a TypeScript program of this checkout: node cmd/node/run.mjs [program [options]]. Without a program it only
// installs a recent Node.js where npm runs on an old one.
import { recentNode } from './recent-node.mjs'
import { replaceProcess } from './replace-process.mjs'

const [program, ...options] = process.argv.slice(2)

try {
  const node = recentNode()
  const flags = ['--disable-warning=ExperimentalWarning']
  if (program !== undefined) replaceProcess(node, [...flags, program, ...options], process.env)
} catch (error) {
  process.stderr.write(`stackroom: ${error instanceof Error ? error.message : error}\n`)
  // Lets npm continue: the first start tries again, and reports it.
  process.exitCode = program === undefined ? 0 : 2
}
