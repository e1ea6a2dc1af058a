import t from 'tap'
import {
  applyLocks,
  bookLockFlags,
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
