// Passphrase of the key in backups: the first line of a file.
import { readFileSync } from 'node:fs'
import { Invalid } from '../base/errors.ts'

/** Undefined without a file. Throws Invalid for one that cannot be read, or has an empty first line. */
export function readPassphrase(file: string | null | undefined): string | undefined {
  if (file === null || file === undefined) return undefined
  const [line = ''] = readText(file).split(/\r?\n/)
  if (line === '') throw new Invalid('The first line of the file with the passphrase is empty')
  return line
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException
    throw new Invalid(`The file with the passphrase cannot be read (${code})`, { cause })
  }
}
