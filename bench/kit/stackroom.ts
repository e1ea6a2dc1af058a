// Command-line runner: starts the program as a user would and parses its output.
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

const launcher = join(import.meta.dirname, '..', '..', 'cmd', 'stackroom.mjs')

/** stdout lines parsed as JSON, the exit code, and the wall time in seconds. */
export async function stackroom(args: string[], onLine: (line: never) => void = () => {}) {
  const started = performance.now()
  const child = spawn(process.execPath, [launcher, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const lines: unknown[] = []
  for await (const line of createInterface({ input: child.stdout })) {
    const value = JSON.parse(line) as never
    onLine(value)
    if (lines.length < 1) lines.push(value)
  }
  const code = await new Promise<number>(resolve => {
    if (child.exitCode !== null) resolve(child.exitCode)
    child.once('exit', c => resolve(c ?? 1))
  })
  return {
    first: lines[0] as Record<string, never>,
    code,
    seconds: (performance.now() - started) / 1000,
  }
}

export function print(row: Record<string, unknown>) {
  process.stdout.write(`${JSON.stringify(row)}\n`)
}
