// Benchmark runner: npm run bench -- <name> [options], by the file name in this folder.

import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'

const names = readdirSync(import.meta.dirname)
  .filter(file => file.endsWith('.ts') && file !== 'run.ts')
  .map(file => file.slice(0, -3))
const [name, ...options] = process.argv.slice(2)
if (name === undefined || !names.includes(name)) {
  process.stderr.write(`usage: npm run bench -- <${names.join(' | ')}> [options]\n`)
  process.exitCode = 2
} else {
  const script = join(import.meta.dirname, `${name}.ts`)
  const flags = [
    '--disable-warning=ExperimentalWarning',
    '--disable-warning=MODULE_TYPELESS_PACKAGE_JSON',
  ]
  const ran = spawnSync(process.execPath, [...flags, script, ...options], { stdio: 'inherit' })
  process.exitCode = ran.status ?? 1
}
