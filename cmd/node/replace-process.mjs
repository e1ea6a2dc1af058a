// @ts-check
// Replaces this process with another program: execve(), or a child that signals are forwarded to.
import { spawn } from 'node:child_process'
import { closeSync, existsSync, openSync, realpathSync } from 'node:fs'
import { isatty } from 'node:tty'
import { fileURLToPath } from 'node:url'

/**
 * Without execve() (Node 20, Windows), spawns the program and exits as it does.
 * @param {string} file
 * @param {string[]} args
 * @param {NodeJS.ProcessEnv} env
 */
export function replaceProcess(file, args, env) {
  if (process.execve && process.platform !== 'win32') {
    // Its ExperimentalWarning is never printed: the process is replaced first.
    process.execve(file, [file, ...args], env)
  }
  const child = spawn(file, args, {
    stdio: 'inherit',
    // Not `STACKROOM_…`, which are configuration keys.
    env: { ...env, _STACKROOM_LAUNCHER_PID: String(process.pid) },
  })
  const isSignaled = forwardSignals(child)
  endWithNpm(child, isSignaled)
  child.on('error', error => {
    process.stderr.write(`${file} cannot be started: ${error.message}\n`)
    process.exitCode = 2
  })
  child.on('exit', (code, signal) => {
    process.exitCode = code ?? 1
    if (signal === null) return
    process.removeAllListeners(signal)
    process.kill(process.pid, signal)
  })
}

/**
 * Forwards signals; returns whether a termination signal was received. A process group also receives them
 * directly, which the child recognizes by the time between them (cmd/shutdown.ts).
 * @param {import('node:child_process').ChildProcess} child
 */
function forwardSignals(child) {
  let isSignaled = false
  const terminal = hasTerminal()
  for (const signal of /** @type {const} */ (['SIGTERM', 'SIGINT', 'SIGHUP'])) {
    process.on(signal, () => {
      if (signal !== 'SIGHUP') isSignaled = true
      // A terminal sends Ctrl-C to the child as well.
      if (signal !== 'SIGINT' || !terminal) child.kill(signal)
    })
  }
  return () => isSignaled
}

/**
 * Ends the child when npm has ended; cmd/parent.ts does the same where there is no launcher in between. A
 * child that was signaled is already ending, and with `nohup` npm ends with the terminal but the child does not.
 * @param {import('node:child_process').ChildProcess} child
 * @param {() => boolean} isSignaled
 */
function endWithNpm(child, isSignaled) {
  const { npm_lifecycle_event: script, npm_package_json: packageFile } = process.env
  if (process.platform === 'win32' || script === undefined) return
  if (script !== 'npx' && !isOwnPackage(packageFile)) return
  const parent = process.ppid
  const outlivesTerminal = hasTerminal() && ![0, 1, 2].some(descriptor => isatty(descriptor))
  const timer = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(timer)
    if (!isSignaled() && !(outlivesTerminal && !hasTerminal())) child.kill('SIGTERM')
  }, 500)
  timer.unref()
}

/** @param {string | undefined} file */
function isOwnPackage(file) {
  const own = fileURLToPath(new URL('../../package.json', import.meta.url))
  return !!file && existsSync(file) && realpathSync(file) === realpathSync(own)
}

function hasTerminal() {
  try {
    closeSync(openSync('/dev/tty', 'r'))
    return true
  } catch {
    return false
  }
}
