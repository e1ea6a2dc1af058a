// The command line as a process of its own, on a database and a data directory of the test.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { Test } from 'tap'
import { database } from './db.ts'
import { temporary } from './library.ts'

const launcher = join(import.meta.dirname, '..', '..', 'cmd', 'stackroom.mjs')

type OnOutput = (child: ChildProcess) => void

/** `stackroom` runs a command to its end, `start` begins one. */
export async function commandLine(t: Test) {
  const { url, sql } = await database(t)
  const common = ['--database-url', url, '--data', join(temporary(t), 'data')]
  const env = { PATH: process.env.PATH, HOME: process.env.HOME }

  function start(args: string[]) {
    return spawn(process.execPath, [launcher, ...args, ...common], {
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
  }

  async function run(child: ReturnType<typeof start>, onOutput: OnOutput) {
    const said = { stdout: '', stderr: '' }
    child.stdout.on('data', chunk => {
      said.stdout += chunk
      onOutput(child)
    })
    child.stderr.on('data', chunk => {
      said.stderr += chunk
    })
    const [code] = await once(child, 'close')
    return { ...said, code: code as number | null }
  }

  const stackroom = (args: string[], onOutput: OnOutput = () => {}) => run(start(args), onOutput)
  /** Without database and data directory. */
  stackroom.plain = (args: string[]) =>
    run(
      spawn(process.execPath, [launcher, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] }),
      () => {},
    )
  return { sql, start, stackroom }
}
