import t from 'tap'
import {
  bookFlags,
  seriesFlags,
  shownLocks,
  withLocks,
} from '../../../lib/catalog/metadata/lock-names.ts'

t.test('the people of a book are locked while one of their roles is', async t => {
  const one = withLocks(['title'], [['authors.writer', true]])
  t.same(one, ['authors', 'authors.writer', 'title'])
  t.match(shownLocks(bookFlags, one), {
    writerLock: true,
    editorLock: false,
    authorsJsonLock: false,
  })
  const two = withLocks(one, [['authors.editor', true]])
  t.same(withLocks(two, [['authors.writer', false]]), ['authors', 'authors.editor', 'title'])
  const none = [['authors.writer', false] as const, ['authors.editor', false] as const]
  t.same(withLocks(two, none), ['title'])
})

t.test('a column that was locked as a whole shows as that', async t => {
  t.match(shownLocks(bookFlags, ['authors']), { authorsJsonLock: true, writerLock: false })
  t.same(withLocks(['authors'], [['authors.all', false]]), [])
  t.equal(shownLocks(seriesFlags, ['authors']).authorsJsonLock, true)
})
