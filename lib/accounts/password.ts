// Password hashing (argon2id) with limited concurrency, because each hash takes 32 MiB and a core.
import { hash, needsRehash, verify } from 'argon2'
import { createSemaphore } from '../base/async/semaphore.ts'
import { Invalid, RateLimited } from '../base/errors.ts'

// 32 MiB and two passes take 52 ms on a 2-core server of 2020; OWASP recommends 19 MiB and two.
const cost = { memoryCost: 32 * 1024, timeCost: 2, parallelism: 1 }
const slots = createSemaphore({ slots: 2 })
const maxWaiting = 40
const minCharacters = 8
const maxCharacters = 1024

/** Number of hashes and comparisons in this process, for tests and metrics. */
export const passwordCounters = { hashed: 0, verified: 0 }

// Compared when there is no account, so that both cases take the same time.
let decoy: Promise<string> | null = null

/** Throws Invalid unless the password has 8 to 1,024 characters. */
export function checkPassword(password: string): void {
  const { length } = [...password]
  if (length < minCharacters)
    throw new Invalid(`The password must have at least ${minCharacters} characters`, {
      reason: 'password_too_short',
      limit: minCharacters,
    })
  if (length > maxCharacters)
    throw new Invalid(`The password must not be longer than ${maxCharacters} characters`, {
      reason: 'password_too_long',
      limit: maxCharacters,
    })
}

/** Returns the hash to store. Throws Invalid as `checkPassword` does, RateLimited when too many are waiting. */
export async function hashPassword(password: string): Promise<string> {
  checkPassword(password)
  passwordCounters.hashed += 1
  return withSlot(() => hash(normalized(password), cost))
}

/** Whether the password matches; a null hash never does, but takes as long. Throws RateLimited when too many are waiting. */
export async function verifyPassword(stored: string | null, password: string): Promise<boolean> {
  decoy ??= withSlot(() => hash('', cost)).catch(error => {
    decoy = null
    throw error
  })
  const isShortEnough = [...password].length <= maxCharacters
  const isReal = stored?.startsWith('$argon2') === true && isShortEnough
  const hashToVerify = isReal ? stored : await decoy
  passwordCounters.verified += 1
  const matches = await withSlot(() =>
    verify(hashToVerify, isShortEnough ? normalized(password) : ''),
  )
  return matches && isReal
}

/** Whether the hash was made with parameters other than the current ones. */
export function isOutdated(stored: string): boolean {
  return needsRehash(stored, cost)
}

// macOS enters decomposed characters, other systems composed ones.
const normalized = (password: string) => password.normalize('NFC')

async function withSlot<T>(work: () => Promise<T>): Promise<T> {
  if (!slots.isFree() && slots.waiting >= maxWaiting)
    throw new RateLimited('Too many concurrent sign-ins', 1)
  return await slots.run(work)
}
