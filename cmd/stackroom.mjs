#!/usr/bin/env node
// @ts-check
// Launcher: runs cmd/main.ts on a Node.js that supports it; must itself run on Node 18.
import { chmodSync, existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { recentNode } from './node/recent-node.mjs'
import { replaceProcess } from './node/replace-process.mjs'

// A checkout has the sources; an npm package has them compiled (deploy/package/build.ts).
const source = fileURLToPath(new URL('./main.ts', import.meta.url))
const compiled = fileURLToPath(new URL('../dist/cmd/main.js', import.meta.url))
const main = existsSync(source) ? source : compiled

try {
  start(recentNode())
} catch (error) {
  process.stderr.write(`stackroom: ${error instanceof Error ? error.message : error}\n`)
  process.exitCode = 2
}

/** @param {string} node */
function start(node) {
  // Type stripping is "experimental" in Node 22, and libarchive.js does not declare that it is ESM.
  const flags = ['--max-semi-space-size=8', '--disable-warning=ExperimentalWarning']
  flags.push('--disable-warning=MODULE_TYPELESS_PACKAGE_JSON')
  // V8 compiles and collects garbage on helper threads. With the default four threads and small growth steps
  // of the young generation, the first hundred pages after a start spent more time waiting for a processor
  // than using one.
  if (process.argv[2] === 'serve') flags.push('--v8-pool-size=1', '--semi-space-growth-factor=8')
  const args = [...process.execArgv, ...flags, main, ...process.argv.slice(2)]
  const env = {
    ...compileCache(process.env),
    // These threads mostly wait for disks, and a slow disk is read with many operations in flight; a waiting
    // thread costs some kilobytes. lib/base/async/disk-queue.ts limits the share of one library.
    UV_THREADPOOL_SIZE: '128',
    ...process.env,
  }
  replaceProcess(node, args, env)
}

/**
 * Directory of Node's compile cache, which halves the start time. It belongs to the user, because write
 * access to it would give control over the code that runs. A service may have no home directory.
 * @param {NodeJS.ProcessEnv} env
 * @returns {NodeJS.ProcessEnv}
 */
function compileCache({ XDG_CACHE_HOME: cache, HOME: home }) {
  const parent = cache || (home && join(home, '.cache'))
  if (!parent) return {}
  const folder = join(parent, 'stackroom')
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    chmodSync(folder, 0o700)
  } catch {
    // Node reports nothing either, and compiles.
    return {}
  }
  return { NODE_COMPILE_CACHE: folder }
}
