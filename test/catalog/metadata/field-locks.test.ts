import t from 'tap'
import {
  applyLocks,
  bookLockFlags,
  lockChanges,
  lockFlagsOf,
  seriesLockFlags,
} from '../../../lib/catalog/metadata/field-locks.ts'

t.test('the authors of a book are locked while one of their roles is', async t => {
  const one = applyLocks(['title'], [['authors.writer', true]])
  t.same(one, ['authors', 'authors.writer', 'title'])
  t.match(lockFlagsOf(bookLockFlags, one), {
    writerLock: true,
    editorLock: false,
    authorsJsonLock: false,
  })
  const two = applyLocks(one, [['authors.editor', true]])
  t.same(applyLocks(two, [['authors.writer', false]]), ['authors', 'authors.editor', 'title'])
  const none = [['authors.writer', false] as const, ['authors.editor', false] as const]
  t.same(applyLocks(two, none), ['title'])
})

t.test('a column locked as a whole sets the flag of all of it', async t => {
  t.match(lockFlagsOf(bookLockFlags, ['authors']), { authorsJsonLock: true, writerLock: false })
  t.same(applyLocks(['authors'], [['authors.all', false]]), [])
  t.equal(lockFlagsOf(seriesLockFlags, ['authors']).authorsJsonLock, true)
})

t.test('of two flags of one lock the one that differs from the row decides', async t => {
  for (const isLocked of [false, true]) {
    const locks = isLocked ? ['awards'] : []
    const same = { awardsLock: isLocked, awardsJsonLock: isLocked }
    t.match(lockFlagsOf(bookLockFlags, locks), same)
    t.same([...lockChanges(bookLockFlags, same, locks)], [['awards', isLocked]])
    for (const flag of ['awardsLock', 'awardsJsonLock'])
      for (const sent of [{ [flag]: !isLocked }, { ...same, [flag]: !isLocked }])
        t.same([...lockChanges(bookLockFlags, sent, locks)], [['awards', !isLocked]], flag)
  }
})
