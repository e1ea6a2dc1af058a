// The command line as a child process, on a database and a data directory of its own.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { Test } from 'tap'
import { createDatabase } from './db.ts'
import { temporaryFolder } from './files/folders.ts'

const launcher = join(import.meta.dirname, '..', '..', 'cmd', 'stackroom.mjs')

/** Whether there is script(1), which gives a command a terminal. */
export const hasScript = spawnSync('script', ['--version']).status === 0

type OnOutput = (child: ChildProcess) => void

/** `stackroom` runs a command until it exits, `start` only starts one; `variables` of their environment. */
export async function commandLine(
  t: Test,
  variables: Record<string, string> = {},
  data = join(temporaryFolder(t), 'data'),
) {
  const { url, sql } = await createDatabase(t)
  const common = ['--database-url', url, '--data', data]
  const env = {
    PATH: process.env.PATH,
    HOME: process.env.HOME,
    // Every new data directory takes a second of CPU time to build it.
    STACKROOM_WEB__ENABLED: 'false',
    ...variables,
  }

  function start(args: string[]) {
    return spawn(process.execPath, [launcher, ...args, ...common], {
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
  }

  async function run(child: ReturnType<typeof start>, onOutput: OnOutput) {
    const output = { stdout: '', stderr: '' }
    child.stdout.on('data', chunk => {
      output.stdout += chunk
      onOutput(child)
    })
    child.stderr.on('data', chunk => {
      output.stderr += chunk
    })
    const [code] = await once(child, 'close')
    return { ...output, code: code as number | null }
  }

  const stackroom = (args: string[], onOutput: OnOutput = () => {}) => run(start(args), onOutput)
  /** Without the options for database and data directory. */
  stackroom.plain = (args: string[]) =>
    run(
      spawn(process.execPath, [launcher, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] }),
      () => {},
    )
  /** Starts it on a terminal, whose output is that of both streams; what is written to stdin is typed there. */
  function startOnTerminal(args: string[]) {
    const words = [process.execPath, launcher, ...args, ...common]
    const shell = words.map(text => `'${text}'`).join(' ')
    return spawn('script', ['-qec', shell, '/dev/null'], {
      env: { ...env, SHELL: '/bin/sh', TERM: 'dumb' },
      stdio: ['pipe', 'pipe', 'pipe'],
    })
  }
  return { sql, start, startOnTerminal, stackroom }
}
