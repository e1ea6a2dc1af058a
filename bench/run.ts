// Benchmark runner: npm run bench -- <name> [options], by the file or folder name in this folder.

import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

const scripts = new Map(
  readdirSync(import.meta.dirname, { withFileTypes: true }).flatMap(entry => {
    const path = join(import.meta.dirname, entry.name)
    if (entry.isFile() && entry.name !== 'run.ts') return [[entry.name.slice(0, -3), path] as const]
    const main = join(path, 'main.ts')
    return existsSync(main) ? [[entry.name, main] as const] : []
  }),
)
const [name, ...options] = process.argv.slice(2)
const script = name === undefined ? undefined : scripts.get(name)
if (script === undefined) {
  process.stderr.write(`usage: npm run bench -- <${[...scripts.keys()].join(' | ')}> [options]\n`)
  process.exitCode = 2
} else {
  const flags = [
    '--disable-warning=ExperimentalWarning',
    '--disable-warning=MODULE_TYPELESS_PACKAGE_JSON',
  ]
  const ran = spawnSync(process.execPath, [...flags, script, ...options], { stdio: 'inherit' })
  process.exitCode = ran.status ?? 1
}
