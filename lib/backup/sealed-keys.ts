// The key file of the secrets, encrypted with a passphrase:
//   sealed = "stackroom-keys-1\n" salt:16 iv:12 tag:16 AES-256-GCM(key file), key = scrypt(passphrase, salt)
import {
  createCipheriv,
  createDecipheriv,
  randomBytes,
  type ScryptOptions,
  scrypt,
} from 'node:crypto'
import { promisify } from 'node:util'
import { Invalid } from '../base/errors.ts'

const magic = Buffer.from('stackroom-keys-1\n')
const [saltBytes, ivBytes, tagBytes] = [16, 12, 16]
// A guess takes 128 MiB and a third of a second.
const cost: ScryptOptions = { N: 2 ** 17, r: 8, p: 1, maxmem: 256 * 1024 ** 2 }

const derive = promisify(
  scrypt as (
    passphrase: string,
    salt: Buffer,
    length: number,
    options: ScryptOptions,
    done: (error: Error | null, key: Buffer) => void,
  ) => void,
)
const keyOf = (passphrase: string, salt: Buffer) =>
  derive(passphrase.normalize('NFKC'), salt, 32, cost)

export async function sealKeys(text: string, passphrase: string): Promise<Buffer> {
  const salt = randomBytes(saltBytes)
  const iv = randomBytes(ivBytes)
  const cipher = createCipheriv('aes-256-gcm', await keyOf(passphrase, salt), iv).setAAD(magic)
  const content = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
  return Buffer.concat([magic, salt, iv, cipher.getAuthTag(), content])
}

/** Throws Invalid for another passphrase, or damaged data. */
export async function openKeys(sealed: Uint8Array, passphrase: string): Promise<string> {
  const data = Buffer.from(sealed)
  const wrong = new Invalid('The passphrase does not open the keys in the backup')
  if (!data.subarray(0, magic.length).equals(magic)) throw wrong
  let at = magic.length
  const take = (bytes: number) => data.subarray(at, (at += bytes))
  const [salt, iv, tag] = [take(saltBytes), take(ivBytes), take(tagBytes)]
  try {
    const decipher = createDecipheriv('aes-256-gcm', await keyOf(passphrase, salt), iv)
    decipher.setAAD(magic).setAuthTag(tag)
    return Buffer.concat([decipher.update(data.subarray(at)), decipher.final()]).toString('utf8')
  } catch {
    throw wrong
  }
}
