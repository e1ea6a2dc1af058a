// SHA-256 digests stored in place of random secrets (API keys, refresh, setup and verification tokens).
import { createHash } from 'node:crypto'

/** A slow password hash is not needed: all of these secrets have at least 160 random bits. */
export function hashSecret(secret: string): Buffer {
  return createHash('sha256').update(secret).digest()
}
