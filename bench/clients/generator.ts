// Contract of a client generator, and the commands by which one runs.
import { execFile } from 'node:child_process'
import { dirname } from 'node:path'
import { promisify } from 'node:util'

export type Generator = {
  name: string
  /** Writes a client to a folder of its own in `folder`. `dropped`: what it left out, in its words. */
  generate(work: {
    folder: string
    document: string
  }): Promise<{ generated: number; dropped: string[] }>
  /** Errors of the compiler. */
  compile(folder: string): Promise<string[]>
  /** What a program that is made with the client prints, as JSON. */
  call?: (folder: string, options: [base: string, key: string]) => Promise<unknown>
}

type Run = { cwd?: string; env?: Record<string, string>; isExpectedToFail?: boolean }

/** Standard output and error of a command. Throws if it fails, unless that is an answer. */
export async function run(
  command: string,
  args: string[],
  { cwd, env = {}, isExpectedToFail }: Run = {},
): Promise<string> {
  const PATH = [env.PATH, dirname(process.execPath), process.env.PATH].filter(Boolean).join(':')
  const options = { env: { ...process.env, ...env, PATH }, maxBuffer: 2 ** 28 }
  try {
    const { stdout, stderr } = await promisify(execFile)(command, args, {
      ...options,
      ...(cwd ? { cwd } : {}),
    })
    return stdout + stderr
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string }
    if (isExpectedToFail) return stdout + stderr
    throw new Error(`${command} ${args.join(' ')} failed:\n${stdout}${stderr}`, { cause: error })
  }
}
