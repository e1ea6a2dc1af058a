// File with the keys that encrypt the secrets in the database: the first one encrypts, the others still decrypt.
//
//   # comment
//   KEY in base64url, 32 bytes
import { createHash, randomBytes } from 'node:crypto'
import {
  closeSync,
  fsyncSync,
  linkSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { resolve } from 'node:path'
import { Invalid } from '../../base/errors.ts'

/** `id` is derived from the key; each ciphertext names it. */
export type SecretKey = { id: string; bytes: Buffer }

const keyBytes = 32
const comment =
  "# Encrypts the secrets in Stackroom's database. Keep a copy separate from database backups."

const keyOf = (bytes: Buffer): SecretKey => ({
  id: createHash('sha256').update(bytes).digest('hex').slice(0, 16),
  bytes,
})

export const newSecretKey = (): SecretKey => keyOf(randomBytes(keyBytes))

/** Throws Invalid for a file that is missing, unreadable or not a key file. */
export const readKeys = (file: string): SecretKey[] => parseKeys(readKeyText(file), file)

/** Throws Invalid for a file that is missing or unreadable. */
export const readKeyText = (file: string): string =>
  attempt(file, 'read', () => {
    if (!statSync(file).isFile()) throw unusable(file, 'is not a file')
    return readFileSync(file, 'utf8')
  })

/** The keys in the text of a key file. Throws Invalid, which names `file`. */
export function parseKeys(text: string, file: string): SecretKey[] {
  const lines = text.split('\n').map(line => line.trim())
  const keys = lines.filter(line => line !== '' && !line.startsWith('#'))
  if (keys.length === 0) throw unusable(file, 'is empty')
  return keys.map(line => {
    const bytes = Buffer.from(line, 'base64url')
    if (!/^[\w-]{43}=?$/.test(line) || bytes.length !== keyBytes)
      throw unusable(file, 'is not a key file')
    return keyOf(bytes)
  })
}

/**
 * The keys in the file, which is created with a new key if missing. Processes that start at the same time
 * agree on one. Throws Invalid.
 */
export function readOrCreateKeys(file: string): SecretKey[] {
  if (statSync(file, { throwIfNoEntry: false }) === undefined)
    attempt(file, 'created', () => createFile(file, [newSecretKey()]))
  return readKeys(file)
}

/** Replaces the file atomically: a killed process leaves either the old or the new one. Throws Invalid. */
export function writeKeys(file: string, keys: readonly SecretKey[]): void {
  attempt(file, 'written', () => {
    const draft = writeDraft(file, keys)
    renameSync(draft, file)
  })
}

/** Never replaces a file that another process has just created. */
function createFile(file: string, keys: readonly SecretKey[]) {
  const draft = writeDraft(file, keys)
  try {
    linkSync(draft, file)
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    if (code === 'EEXIST') return
    if (!/^(?:EPERM|ENOTSUP|EOPNOTSUPP|ENOSYS|EMLINK)$/.test(code)) throw error
    // A file system without hard links.
    writeFileSync(file, textOf(keys), { mode: 0o600, flag: 'wx' })
  } finally {
    rmSync(draft, { force: true })
  }
}

function writeDraft(file: string, keys: readonly SecretKey[]): string {
  const draft = `${file}.${randomBytes(6).toString('hex')}.new`
  try {
    const descriptor = openSync(draft, 'wx', 0o600)
    try {
      writeFileSync(descriptor, textOf(keys))
      fsyncSync(descriptor)
    } finally {
      closeSync(descriptor)
    }
    return draft
  } catch (error) {
    rmSync(draft, { force: true })
    throw error
  }
}

const textOf = (keys: readonly SecretKey[]) =>
  `${[comment, ...keys.map(({ bytes }) => bytes.toString('base64url'))].join('\n')}\n`

const unusable = (file: string, problem: string) =>
  new Invalid(
    `secrets.key_file: ${resolve(file)} ${problem}; restore it from a backup, or remove it to start with a new key`,
  )

function attempt<T>(file: string, verb: string, work: () => T): T {
  try {
    return work()
  } catch (cause) {
    if (cause instanceof Invalid) throw cause
    const { code = 'error' } = cause as NodeJS.ErrnoException
    throw new Invalid(`secrets.key_file: ${resolve(file)} cannot be ${verb} (${code})`, { cause })
  }
}
