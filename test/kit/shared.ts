// Optional test resources beside the checkout (`../shared`): third-party files and schemas that are not
// part of this repository. Without them the checks that need them are left out and counted.
import { existsSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..', '..', '..', 'shared')
const leftOut = new Map<string, number>()

/** Absolute path of a shared file or folder; null if there is none. */
export function sharedPath(path: string): string | null {
  const absolute = join(root, path)
  return existsSync(absolute) ? absolute : null
}

/** Counts checks that were left out because `shared/<path>` does not exist; printed when the process ends. */
export function leaveOut(path: string, checks = 1): void {
  leaveOutWithout(`shared/${path}`, checks)
}

/** The same without something else, for example a compiler. */
export function leaveOutWithout(resource: string, checks = 1): void {
  if (leftOut.size === 0) process.once('exit', printLeftOut)
  leftOut.set(resource, (leftOut.get(resource) ?? 0) + checks)
}

function printLeftOut() {
  for (const [resource, checks] of leftOut)
    process.stderr.write(`left out: ${checks} checks (${resource} is not there)\n`)
}
