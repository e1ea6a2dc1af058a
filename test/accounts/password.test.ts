// Password hashing: normalization, constant time, limits.
import { hash } from 'argon2'
import t from 'tap'
import {
  checkPassword,
  hashPassword,
  isOutdated,
  passwordCounters,
  verifyPassword,
} from '../../lib/accounts/password.ts'
import { Invalid, RateLimited } from '../../lib/base/errors.ts'

t.test('a password matches only its own hash, in any Unicode normalization', async t => {
  const stored = await hashPassword('pässwörd')
  t.match(stored, /^\$argon2id\$v=19\$m=32768,t=2,p=1\$/)
  t.ok(await verifyPassword(stored, 'pa\u0308sswo\u0308rd'))
  t.notOk(await verifyPassword(stored, 'passwort'))
  t.not(await hashPassword('pässwörd'), stored, 'salted')
  t.notOk(isOutdated(stored))
  t.ok(isOutdated(await hash('pässwörd', { memoryCost: 8192, timeCost: 2, parallelism: 1 })))
})

t.test(
  'a missing account, an invalid hash and a too long password are rejected after one comparison',
  async t => {
    for (const [stored, password] of [
      [null, ''],
      [null, 'x'],
      ['-', '-'],
      [null, 'x'.repeat(2000)],
    ] as const) {
      const before = passwordCounters.verified
      t.notOk(await verifyPassword(stored, password))
      t.equal(passwordCounters.verified, before + 1)
    }
  },
)

t.test('passwords are at least 8 characters and at most 1,024 characters', async t => {
  for (const bad of ['', '1234567', '💡💡💡💡', 'é'.repeat(1025)])
    t.throws(() => checkPassword(bad), Invalid)
  for (const good of ['12345678', '💡'.repeat(8), 'é'.repeat(1024)]) checkPassword(good)
  await t.rejects(hashPassword('short'), Invalid)
})

t.test('the queue of concurrent verifications is limited', async t => {
  // Verified at the cost that it was hashed at.
  const stored = await hash('12345678', { memoryCost: 1024, timeCost: 2, parallelism: 1 })
  const verifications = Array.from({ length: 60 }, () => verifyPassword(stored, '12345678'))
  const results = await Promise.allSettled(verifications)
  const rejected = results.filter(result => result.status === 'rejected')
  t.equal(rejected.length, 18)
  t.ok(rejected.every(result => result.reason instanceof RateLimited))
  t.ok(await verifyPassword(stored, '12345678'), 'later ones succeed')
})
