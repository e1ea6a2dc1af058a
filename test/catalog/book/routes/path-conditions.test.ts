// Conditions on paths with letters beyond ASCII.
import t from 'tap'
import { comic, createTestLibrary } from '../../../kit/library.ts'
import { startApi } from '../../../kit/server.ts'

const all = await startApi(t)
const shelf = await createTestLibrary(t, all, {
  'Köln/Été.cbz': comic(),
  'Köln/two.cbz': comic(),
  'Plain/with_under % \\.cbz': comic(),
})
await shelf.scan()
const admin = await all.createUser('admin')
const totalOf = async (operator: string, value: string) => {
  const condition = { path: { operator, value } }
  const { body } = await admin.post('/books/list', { condition })
  return body.total
}

t.test('as written, and ASCII letters without case', async t => {
  for (const [operator, value, total] of [
    ['contains', 'Été', 1],
    ['contains', 'ÉtÉ', 0],
    ['contains', 'KÖLN/T', 1],
    ['contains', 'kÖln', 2],
    ['endsWith', 'Été.CBZ', 1],
    ['is', 'Köln/Été.cbz', 1],
    ['doesNotContain', 'Été', 2],
    ['doesNotContain', 'KÖLN', 1],
  ] as const)
    t.equal(await totalOf(operator, value), total, `${operator} ${value}`)
})

t.test('digits and wildcards stand for themselves', async t => {
  for (const [value, total] of [
    ['303', 0],
    ['266', 0],
    ['\\', 1],
    ['\\\\', 0],
    ['_under % ', 1],
    ['_wo', 0],
  ] as const)
    t.equal(await totalOf('contains', value), total, value)
})
