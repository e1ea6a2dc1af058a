// Secrets as the database stores them: encrypted with AES-256-GCM by a key outside it, and bound to their place, so
// that none can be moved to where others may read it.
//
//   sealed = "v1." key id "." base64url(iv tag ciphertext)
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { Unavailable } from '../../base/errors.ts'
import { readKeys, readOrCreateKeys, type SecretKey } from './key-file.ts'

export type Secrets = {
  /** The key file. */
  readonly file: string
  /** Id of the key for new encryptions; reads the file. Throws Invalid. */
  keyId(): string
  /** Encrypts with the key file's current first key; the caller holds `lockSecrets`. Throws Unavailable. */
  seal(text: string, place: string): string
  /** Null if the secret was sealed with a key missing from the file, or for another place. Throws Invalid. */
  open(sealed: string, place: string): string | null
}

/** Where a secret is stored; bound to its ciphertext. */
export const signingKeyPlace = (keyId: string) => `setting jwt_keys ${keyId}`
export const credentialPlace = (sourceId: string, name: string) =>
  `source credentials ${sourceId} ${name}`

const algorithm = 'aes-256-gcm'
const [ivBytes, tagBytes] = [12, 16]
const format = /^v1\.([0-9a-f]{16})\.([\w-]{38,})$/
// A key id missing from the file is looked up again, in case another process has rotated the keys.
const rereadMs = 1_000

/** Whether a stored text is encrypted. */
export const isSealed = (text: string): boolean => format.test(text)
/** The key id of a sealed text; otherwise null. */
export const keyIdOf = (text: string): string | null => format.exec(text)?.[1] ?? null

type SecretsConfig = { data_dir: string; secrets: { key_file: string | null } }

/** Uses the configured key file, which is read, or created if missing, on first use. */
export const openSecrets = ({ data_dir, secrets }: SecretsConfig): Secrets =>
  secretsIn(secrets.key_file ?? join(data_dir, 'stackroom.keys'))

export function secretsIn(file: string): Secrets {
  let keys: SecretKey[] | null = null
  let readAt = 0
  const read = () => {
    // A file that disappears is not recreated while the process runs.
    keys = keys === null ? readOrCreateKeys(file) : readKeys(file)
    readAt = Date.now()
    return keys
  }
  const keyOf = (id: string) => {
    const isOf = (key: SecretKey) => key.id === id
    const known = (keys ?? read()).find(isOf)
    if (known !== undefined || Date.now() - readAt < rereadMs) return known
    readAt = Date.now()
    try {
      return read().find(isOf)
    } catch {
      return undefined
    }
  }
  return {
    file,
    keyId: () => read()[0]!.id,
    seal(text, place) {
      try {
        return sealWith(read()[0]!, text, place)
      } catch {
        throw new Unavailable('The key file for secrets (secrets.key_file) cannot be read')
      }
    },
    open(sealed, place) {
      const id = keyIdOf(sealed)
      const key = id === null ? undefined : keyOf(id)
      return key === undefined ? null : openWith(key, sealed, place)
    },
  }
}

function sealWith({ id, bytes }: SecretKey, text: string, place: string): string {
  const iv = randomBytes(ivBytes)
  const cipher = createCipheriv(algorithm, bytes, iv).setAAD(Buffer.from(place))
  const content = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
  return `v1.${id}.${Buffer.concat([iv, cipher.getAuthTag(), content]).toString('base64url')}`
}

function openWith({ bytes }: SecretKey, sealed: string, place: string): string | null {
  const [, , content = ''] = format.exec(sealed) ?? []
  const data = Buffer.from(content, 'base64url')
  try {
    const decipher = createDecipheriv(algorithm, bytes, data.subarray(0, ivBytes))
      .setAAD(Buffer.from(place))
      .setAuthTag(data.subarray(ivBytes, ivBytes + tagBytes))
    const text = decipher.update(data.subarray(ivBytes + tagBytes))
    return Buffer.concat([text, decipher.final()]).toString('utf8')
  } catch {
    return null
  }
}
