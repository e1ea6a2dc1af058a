// SHA-256 digests of random secrets (API keys, refresh, setup and verification tokens), stored in their place.
import { createHash } from 'node:crypto'

/** No slow password hash is needed: all of these secrets have at least 160 random bits. */
export function hashSecret(secret: string): Buffer {
  return createHash('sha256').update(secret).digest()
}
