// Process of a plugin: a separate process group that ends with the server, with limited memory and output.
import { type ChildProcess, spawn } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { searchPath } from './folder.ts'

/** Why the server killed a process. */
export type Offence = 'memory' | 'output'

type Options = {
  command: readonly string[]
  /** Existing working folder. */
  folder: string
  maxMemoryBytes: number
  maxLineBytes: number
  onLine: (line: string) => void
  /** Receives the end of what it writes to stderr. */
  onError: (text: string) => void
}

const memoryCheckMs = 250
const stopMs = 500
const maxErrorBytes = 64 * 1024 * 1024
const isWindows = process.platform === 'win32'

// File descriptor 3 is closed when the server ends for any reason, and then the group is killed. Core dumps
// and files beyond 1 GiB are not written.
const supervisor = `
ulimit -c 0; ulimit -f 2097152
exec 4<&0
"$@" <&4 3<&- 4<&- &
child=$!
( exec 4<&- >/dev/null 2>&1; while read -r _; do :; done <&3; kill -KILL -$$ ) &
wait $child
`

/** The process inherits nothing from the server's environment. */
export function startProcess(options: Options) {
  const { command, folder, maxMemoryBytes } = options
  const [program = '', ...args] = isWindows
    ? command
    : ['/bin/sh', '-c', supervisor, 'plugin', ...command]
  const child = spawn(program, args, {
    cwd: folder,
    env: { PATH: searchPath, HOME: folder, TMPDIR: folder, LANG: 'C.UTF-8' },
    stdio: ['pipe', 'pipe', 'pipe', 'pipe'],
    detached: !isWindows,
    windowsHide: true,
  })
  let offence: Offence | null = null
  /** Kills the whole group at once. */
  const kill = (reason?: Offence) => {
    offence ??= reason ?? null
    killGroup(child)
  }
  const exited = new Promise<void>(resolve => {
    const end = () => {
      // Anything that the process left behind, and the supervising shell.
      killGroup(child)
      resolve()
    }
    child.once('exit', end)
    child.once('error', end)
  })
  // Ignores errors of writing to a process that has exited.
  for (const stream of child.stdio) stream?.on('error', () => {})
  readLines(child, { ...options, onExcess: () => kill('output') })
  watchMemory(child, maxMemoryBytes, exited, () => kill('memory'))
  return {
    /** Resolves when the process has exited. */
    exited,
    write: (line: string) => void child.stdin?.write(`${line}\n`),
    kill,
    offence: () => offence,
    /** Closes its input, and kills the group half a second later. */
    async stop() {
      child.stdin?.end()
      const timer = new AbortController()
      await Promise.race([
        exited,
        sleep(stopMs, undefined, { signal: timer.signal }).catch(() => {}),
      ])
      timer.abort()
      killGroup(child)
      await exited
    },
  }
}

function killGroup({ pid }: ChildProcess) {
  if (pid === undefined) return
  try {
    if (isWindows) process.kill(pid, 'SIGKILL')
    else process.kill(-pid, 'SIGKILL')
  } catch {
    // All have exited.
  }
}

type Reading = Pick<Options, 'maxLineBytes' | 'onLine' | 'onError'> & { onExcess: () => void }

function readLines({ stdout, stderr }: ChildProcess, reading: Reading) {
  const { maxLineBytes, onLine, onError, onExcess } = reading
  let parts: Buffer[] = []
  let size = 0
  stdout?.on('data', (chunk: Buffer) => {
    let from = 0
    for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, from)) {
      const line = Buffer.concat([...parts, chunk.subarray(from, at)]).toString()
      parts = []
      size = 0
      from = at + 1
      onLine(line)
    }
    size += chunk.length - from
    if (size > maxLineBytes) {
      parts = []
      stdout.destroy()
      onExcess()
    } else parts.push(chunk.subarray(from))
  })
  let errorBytes = 0
  stderr?.on('data', (chunk: Buffer) => {
    errorBytes += chunk.length
    if (errorBytes > maxErrorBytes) onExcess()
    onError(chunk.subarray(-1000).toString())
  })
}

/** Linux only: other systems do not reveal what a process uses. */
function watchMemory(
  { pid }: ChildProcess,
  maxBytes: number,
  exited: Promise<void>,
  onExcess: () => void,
) {
  if (process.platform !== 'linux' || pid === undefined) return
  let isChecking = false
  const timer = setInterval(async () => {
    if (isChecking) return
    isChecking = true
    if ((await residentBytes(pid)) > maxBytes) onExcess()
    isChecking = false
  }, memoryCheckMs)
  timer.unref()
  void exited.then(() => clearInterval(timer))
}

const pageBytes = 4096

/** Memory of a process and its descendants. */
async function residentBytes(pid: number, depth = 0): Promise<number> {
  const read = (name: string) => readFile(`/proc/${pid}/${name}`, 'utf8').catch(() => '')
  const [statm, children] = await Promise.all([read('statm'), read(`task/${pid}/children`)])
  const own = Number(statm.split(' ')[1] ?? 0) * pageBytes
  if (depth > 8) return own
  const pids = children
    .split(' ')
    .filter(text => text !== '')
    .slice(0, 200)
  const below = await Promise.all(pids.map(child => residentBytes(Number(child), depth + 1)))
  return below.reduce((sum, bytes) => sum + bytes, own)
}
