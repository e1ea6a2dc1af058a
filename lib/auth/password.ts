// Passwords: argon2id, and never more of it at once than the machine bears.
import { hash, needsRehash, verify } from 'argon2'
import { Invalid, Limited } from '../errors.ts'

// 32 MiB and two passes take 52 ms on a 2-core server of 2020; OWASP asks for 19 MiB and two.
const cost = { memoryCost: 32 * 1024, timeCost: 2, parallelism: 1 }
const atOnce = 2
const mostWaiting = 40
const shortest = 8
const longestBytes = 1024

/** How often a password was hashed or compared in this process, for tests and metrics. */
export const passwordCounters = { hashed: 0, verified: 0 }

// Of no password: compared where there is no account, so that both answers take the same time.
let decoy: Promise<string> | null = null

/** Throws Invalid unless the password may be used: 8 characters or more, 1,024 bytes or fewer. */
export function checkPassword(password: string): void {
  if ([...password].length < shortest)
    throw new Invalid(`The password must have at least ${shortest} characters`)
  if (Buffer.byteLength(password) > longestBytes)
    throw new Invalid(`The password must not be longer than ${longestBytes} bytes`)
}

/** The hash to store. Throws Invalid as `checkPassword` does, Limited when too many wait. */
export async function hashPassword(password: string): Promise<string> {
  checkPassword(password)
  passwordCounters.hashed += 1
  return inTurn(() => hash(folded(password), cost))
}

/** Whether the password belongs to the hash; null takes as long and is false. Throws Limited when too many wait. */
export async function verifyPassword(stored: string | null, password: string): Promise<boolean> {
  decoy ??= inTurn(() => hash('', cost)).catch(error => {
    decoy = null
    throw error
  })
  const isShortEnough = Buffer.byteLength(password) <= longestBytes
  const isReal = stored?.startsWith('$argon2') === true && isShortEnough
  const against = isReal ? stored : await decoy
  passwordCounters.verified += 1
  const fits = await inTurn(() => verify(against, isShortEnough ? folded(password) : ''))
  return fits && isReal
}

/** Whether the hash was made with other parameters than today's. */
export function isOutdated(stored: string): boolean {
  return needsRehash(stored, cost)
}

// The same letters typed on another system may come decomposed.
const folded = (password: string) => password.normalize('NFC')

const waiting: (() => void)[] = []
let running = 0

async function inTurn<T>(work: () => Promise<T>): Promise<T> {
  if (running < atOnce) running += 1
  else await aTurn()
  try {
    return await work()
  } finally {
    const next = waiting.shift()
    if (next) next()
    else running -= 1
  }
}

function aTurn(): Promise<void> {
  if (waiting.length >= mostWaiting) throw new Limited('Too many sign-ins at once', 1)
  return new Promise(resolve => waiting.push(resolve))
}
