// Questions to the person at the terminal: a password, and a confirmation.
import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'
import { Conflict, Invalid } from '../../lib/base/errors.ts'

/** The first line of standard input; typed characters are not echoed on a terminal. */
export async function readPassword(): Promise<string> {
  const terminal = process.stdin.isTTY === true
  if (terminal) process.stderr.write('Password: ')
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() })
  const password = await readLine(silent, terminal)
  if (terminal) process.stderr.write('\n')
  return password
}

/** Throws unless `yes` is set or the person confirms: Invalid without a terminal, Conflict after any other answer. */
export async function requireConfirmation(question: string, { yes = false }): Promise<void> {
  if (yes) return
  if (!process.stdin.isTTY)
    throw new Invalid('Standard input is not a terminal; add --yes to confirm')
  process.stderr.write(`${question} [y/N] `)
  const answer = await readLine(process.stderr, false)
  if (!/^\s*y(es)?\s*$/i.test(answer)) throw new Conflict('Not confirmed; nothing was deleted')
}

/** Empty at the end of the input, and after Ctrl-C where the characters are read one by one. */
function readLine(output: NodeJS.WritableStream, terminal: boolean): Promise<string> {
  const reader = createInterface({ input: process.stdin, output, terminal })
  return new Promise(resolve => {
    let line = ''
    reader.once('line', text => {
      line = text
      reader.close()
    })
    reader.once('SIGINT', () => reader.close())
    reader.once('close', () => resolve(line))
  })
}
