// Purge of missing books after a scan, where the library is configured so.
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { openCatalog, testWithDoctor } from '../../kit/catalog.ts'
import { comic, createTestLibrary } from '../../kit/library.ts'

const all = await openCatalog(t)
const test = testWithDoctor(t, all)
const { sql, pipeline } = all

async function library(t: Parameters<typeof createTestLibrary>[0], purges: boolean) {
  const names = ['A/1.cbz', 'A/2.cbz', 'B/1.cbz', 'B/2.cbz', 'C/1.cbz']
  const shelf = await createTestLibrary(
    t,
    all,
    Object.fromEntries(names.map(name => [name, comic()])),
  )
  await sql`
    update library set scanning_config = ${sql.json({ purgeDeletedOnScan: purges })}
    where id = ${shelf.id}`
  await shelf.scan()
  return shelf
}

async function purgeDone(libraryId: string) {
  for (let left = 3000; left > 0; left--) {
    pipeline.wake()
    if (!(await pipeline.queue.hasJobs(libraryId, ['purge']))) return
    await sleep(20)
  }
  throw new Error('timeout')
}

test('missing books are deleted after a full scan', async t => {
  const shelf = await library(t, true)
  shelf.remove('C/1.cbz')
  await shelf.scan()
  await purgeDone(shelf.id)
  t.equal((await shelf.books()).length, 4)
  t.match(await shelf.counters(), { books: 4, missing: 0, series: 2 })
})

test('they are not deleted without the setting, nor after a partial scan', async t => {
  const unconfigured = await library(t, false)
  unconfigured.remove('C/1.cbz')
  await unconfigured.scan()
  const purges = await library(t, true)
  purges.remove('C/1.cbz')
  await purges.scan({ paths: ['C'] })
  for (const shelf of [unconfigured, purges]) {
    await purgeDone(shelf.id)
    t.equal((await shelf.books()).filter(book => book.missingAt).length, 1)
  }
})

test('an unconfirmed scan deletes nothing', async t => {
  const shelf = await library(t, true)
  for (const path of ['A', 'B']) shelf.remove(path)
  t.match(await shelf.scan(), { state: 'unconfirmed' })
  await purgeDone(shelf.id)
  t.equal((await shelf.books()).length, 5)
})
