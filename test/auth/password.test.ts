import { hash } from 'argon2'
import t from 'tap'
import {
  checkPassword,
  hashPassword,
  isOutdated,
  passwordCounters,
  verifyPassword,
} from '../../lib/auth/password.ts'
import { Invalid, Limited } from '../../lib/errors.ts'

t.test('a password fits its own hash only, however its letters are composed', async t => {
  const stored = await hashPassword('pässwörd')
  t.match(stored, /^\$argon2id\$v=19\$m=32768,p=1,t=2\$/)
  t.ok(await verifyPassword(stored, 'pa\u0308sswo\u0308rd'))
  t.notOk(await verifyPassword(stored, 'passwort'))
  t.not(await hashPassword('pässwörd'), stored, 'salted')
  t.notOk(isOutdated(stored))
  t.ok(isOutdated(await hash('pässwörd', { memoryCost: 8192, timeCost: 2, parallelism: 1 })))
})

t.test(
  'no account, no real hash and an endless password cost a comparison and are refused',
  async t => {
    for (const [stored, given] of [
      [null, ''],
      [null, 'x'],
      ['-', '-'],
      [null, 'x'.repeat(2000)],
    ] as const) {
      const before = passwordCounters.verified
      t.notOk(await verifyPassword(stored, given))
      t.equal(passwordCounters.verified, before + 1)
    }
  },
)

t.test('passwords are at least 8 characters and at most 1,024 bytes', async t => {
  for (const bad of ['', '1234567', '💡💡💡💡', 'é'.repeat(513)])
    t.throws(() => checkPassword(bad), Invalid)
  for (const good of ['12345678', '💡'.repeat(8), 'é'.repeat(512)]) checkPassword(good)
  await t.rejects(hashPassword('short'), Invalid)
})

t.test('a flood waits in a short line, and the rest is turned away', async t => {
  const stored = await hashPassword('12345678')
  const flood = Array.from({ length: 60 }, () => verifyPassword(stored, '12345678'))
  const ends = await Promise.allSettled(flood)
  const refused = ends.filter(end => end.status === 'rejected')
  t.equal(refused.length, 18)
  t.ok(refused.every(end => end.reason instanceof Limited))
  t.ok(await verifyPassword(stored, '12345678'), 'and it is over')
})
