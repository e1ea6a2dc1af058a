// Collected changes of a library: limits, and when they are due.
import { mkdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import {
  addChanges,
  checkPaths,
  createChanges,
  isEmpty,
  quietMs,
  takeDue,
} from '../../../pipeline/watch/changes.ts'
import { temporaryFolder } from '../../kit/files/folders.ts'
import { useClock } from '../../kit/suite/clock.ts'

const names = (count: number, name: (i: number) => string) =>
  Array.from({ length: count }, (_, i) => name(i))
const all = () => true

const advance = useClock(t)
/** As long as a file must be unchanged. */
const passQuietTime = () => advance(quietMs + 50)

t.test('many paths become their folders, many folders the whole library', async t => {
  const changes = createChanges()
  addChanges(
    changes,
    names(500, i => `A/${i}.cbz`),
    0,
  )
  t.equal(changes.paths.size, 500)
  addChanges(changes, ['B/one.cbz'], 0)
  t.equal(changes.paths.size, 0)
  t.same([...changes.folders.keys()], ['A', 'B'])
  addChanges(changes, ['A/deep/more.cbz', 'C/one.cbz'], 100)
  t.same([...changes.paths.keys()], ['C/one.cbz'], 'a path in a changed folder is not added')
  addChanges(
    changes,
    names(1_001, i => `${i}/one.cbz`),
    200,
  )
  t.same([...changes.folders.keys()], [''])
  t.ok(changes.paths.size <= 500)
  addChanges(changes, ['Z/z.cbz'], 300)
  t.same([...changes.folders], [['', { first: 0, last: 300 }]])
})

t.test('folders are due after a second without changes, or after three seconds', async t => {
  const changes = createChanges()
  addChanges(changes, [''], 1_000)
  t.same(takeDue(changes, 1_999), [])
  t.same(takeDue(changes, 2_000), [''])
  t.ok(isEmpty(changes))
  for (let now = 0; now <= 3_000; now += 500) addChanges(changes, [''], now)
  t.same(takeDue(changes, 3_000), [''])
})

t.test('a file is due when it is unchanged; a file that is not a book is removed', async t => {
  const root = temporaryFolder(t)
  const changes = createChanges()
  const at = (path: string) => join(root, path)
  const checkNow = () => checkPaths(changes, Buffer.from(root), path => path.endsWith('.cbz'))
  writeFileSync(at('grows.cbz'), '1')
  writeFileSync(at('done.cbz'), '1')
  utimesSync(at('done.cbz'), 1, 1)
  writeFileSync(at('note.txt'), '1')
  mkdirSync(at('folder'))
  addChanges(changes, ['grows.cbz', 'done.cbz', 'note.txt', 'folder', 'gone.cbz'])
  await checkNow()
  t.same(takeDue(changes), [], 'one check is not enough')
  t.notOk(changes.paths.has('note.txt'))
  passQuietTime()
  writeFileSync(at('grows.cbz'), '12')
  await checkNow()
  t.same(takeDue(changes).sort(), ['done.cbz', 'folder', 'gone.cbz'])
  passQuietTime()
  await checkNow()
  t.same([...changes.paths.keys()], ['grows.cbz'])
  addChanges(changes, ['grows.cbz'])
  t.same(takeDue(changes), [], 'after another change it is checked again')
  passQuietTime()
  await checkNow()
  t.same(takeDue(changes), ['grows.cbz'])
})

t.test('a file that was written a moment ago is not due', async t => {
  const root = temporaryFolder(t)
  const changes = createChanges()
  const checkNow = () => checkPaths(changes, Buffer.from(root), all)
  writeFileSync(join(root, 'new.cbz'), '1')
  // By the clock of a file server that is ahead: its state is the same in all checks.
  const written = new Date(Date.now() + quietMs)
  utimesSync(join(root, 'new.cbz'), written, written)
  addChanges(changes, ['new.cbz'])
  await checkNow()
  passQuietTime()
  await checkNow()
  t.same(takeDue(changes), [])
  passQuietTime()
  await checkNow()
  t.same(takeDue(changes), ['new.cbz'])
})

t.test('a change during a check is not lost', async t => {
  const root = temporaryFolder(t)
  writeFileSync(join(root, '1.cbz'), '1')
  const changes = createChanges()
  addChanges(changes, ['1.cbz'])
  await checkPaths(changes, Buffer.from(root), all)
  passQuietTime()
  const checking = checkPaths(changes, Buffer.from(root), all)
  addChanges(changes, ['1.cbz'])
  rmSync(join(root, '1.cbz'))
  await checking
  t.same(takeDue(changes), [])
  t.ok(changes.paths.has('1.cbz'))
})
