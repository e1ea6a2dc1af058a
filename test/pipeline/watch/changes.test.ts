// What changed and was not scanned: how it is kept small, and when it is due.
import { mkdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import {
  isEmpty,
  look,
  noChanges,
  noteChanges,
  quietMs,
  takeDue,
} from '../../../pipeline/watch/changes.ts'
import { temporary } from '../../kit/library.ts'

const names = (count: number, name: (i: number) => string) =>
  Array.from({ length: count }, (_, i) => name(i))
const all = () => true

t.test('many paths become their folders, many folders the whole library', async t => {
  const changes = noChanges()
  noteChanges(
    changes,
    names(500, i => `A/${i}.cbz`),
    0,
  )
  t.equal(changes.paths.size, 500)
  noteChanges(changes, ['B/one.cbz'], 0)
  t.equal(changes.paths.size, 0)
  t.same([...changes.folders.keys()], ['A', 'B'])
  noteChanges(changes, ['A/deep/more.cbz', 'C/one.cbz'], 100)
  t.same([...changes.paths.keys()], ['C/one.cbz'], 'what lies in a noted folder is noted')
  noteChanges(
    changes,
    names(1_001, i => `${i}/one.cbz`),
    200,
  )
  t.same([...changes.folders.keys()], [''])
  t.ok(changes.paths.size <= 500)
  noteChanges(changes, ['Z/z.cbz'], 300)
  t.same([...changes.folders], [['', { first: 0, last: 300 }]])
})

t.test('folders are due when nothing more is told of them, or after three seconds', async t => {
  const changes = noChanges()
  noteChanges(changes, [''], 1_000)
  t.same(takeDue(changes, 1_999), [])
  t.same(takeDue(changes, 2_000), [''])
  t.ok(isEmpty(changes))
  for (let now = 0; now <= 3_000; now += 500) noteChanges(changes, [''], now)
  t.same(takeDue(changes, 3_000), [''])
})

t.test('a file is due when it stays as it is, what is no book is dropped', async t => {
  const root = temporary(t)
  const changes = noChanges()
  const at = (path: string) => join(root, path)
  const lookNow = () => look(changes, Buffer.from(root), path => path.endsWith('.cbz'))
  writeFileSync(at('grows.cbz'), '1')
  writeFileSync(at('done.cbz'), '1')
  utimesSync(at('done.cbz'), 1, 1)
  writeFileSync(at('note.txt'), '1')
  mkdirSync(at('folder'))
  noteChanges(changes, ['grows.cbz', 'done.cbz', 'note.txt', 'folder', 'gone.cbz'])
  await lookNow()
  t.same(takeDue(changes), [], 'one look tells nothing')
  t.notOk(changes.paths.has('note.txt'))
  await sleep(quietMs + 50)
  writeFileSync(at('grows.cbz'), '12')
  await lookNow()
  t.same(takeDue(changes).sort(), ['done.cbz', 'folder', 'gone.cbz'])
  await sleep(quietMs + 50)
  await lookNow()
  t.same([...changes.paths.keys()], ['grows.cbz'])
  noteChanges(changes, ['grows.cbz'])
  t.same(takeDue(changes), [], 'told of again, it is looked at again')
  await sleep(quietMs + 50)
  await lookNow()
  t.same(takeDue(changes), ['grows.cbz'])
})

t.test('what is told of while it is looked at is not lost', async t => {
  const root = temporary(t)
  writeFileSync(join(root, '1.cbz'), '1')
  const changes = noChanges()
  noteChanges(changes, ['1.cbz'])
  await look(changes, Buffer.from(root), all)
  await sleep(quietMs + 50)
  const looking = look(changes, Buffer.from(root), all)
  noteChanges(changes, ['1.cbz'])
  rmSync(join(root, '1.cbz'))
  await looking
  t.same(takeDue(changes), [])
  t.ok(changes.paths.has('1.cbz'))
})
