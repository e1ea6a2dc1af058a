// Libraries that want their missing books erased after a scan.
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { catalogue, checkedBy, comic, shelve } from '../../kit/library.ts'

const all = await catalogue(t)
const test = checkedBy(t, all)
const { sql, pipeline } = all

async function library(t: Parameters<typeof shelve>[0], purges: boolean) {
  const names = ['A/1.cbz', 'A/2.cbz', 'B/1.cbz', 'B/2.cbz', 'C/1.cbz']
  const shelf = await shelve(t, all, Object.fromEntries(names.map(name => [name, comic()])))
  await sql`
    update library set scanning_config = ${sql.json({ purgeDeletedOnScan: purges })}
    where id = ${shelf.id}`
  await shelf.scan()
  return shelf
}

async function settled(libraryId: string) {
  for (let left = 3000; left > 0; left--) {
    pipeline.wake()
    if (!(await pipeline.queue.busy(libraryId, ['purge']))) return
    await sleep(20)
  }
  throw new Error('it does not end')
}

test('the missing books go after a full scan', async t => {
  const shelf = await library(t, true)
  shelf.remove('C/1.cbz')
  await shelf.scan()
  await settled(shelf.id)
  t.equal((await shelf.books()).length, 4)
  t.match(await shelf.counters(), { books: 4, missing: 0, series: 2 })
})

test('they stay where nobody asked for it, and after a scan of a part', async t => {
  const keeps = await library(t, false)
  keeps.remove('C/1.cbz')
  await keeps.scan()
  const purges = await library(t, true)
  purges.remove('C/1.cbz')
  await purges.scan({ paths: ['C'] })
  for (const shelf of [keeps, purges]) {
    await settled(shelf.id)
    t.equal((await shelf.books()).filter(book => book.missingAt).length, 1)
  }
})

test('a scan that brakes erases nothing', async t => {
  const shelf = await library(t, true)
  for (const path of ['A', 'B']) shelf.remove(path)
  t.match(await shelf.scan(), { state: 'unconfirmed' })
  await settled(shelf.id)
  t.equal((await shelf.books()).length, 5)
})
