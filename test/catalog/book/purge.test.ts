// Purging while readers write progress: no deadlock reaches the caller, and no rows are left behind.
import t from 'tap'
import { unrestrictedViewer } from '../../../lib/accounts/viewer.ts'
import { purgeSeries } from '../../../lib/catalog/book/purge.ts'
import { recordReading } from '../../../lib/reading/record.ts'
import { createReader } from '../../kit/accounts.ts'
import { openCatalog, testWithDoctor } from '../../kit/catalog.ts'
import { comic, createTestLibrary } from '../../kit/library.ts'
import { testOrigin } from '../../kit/reading.ts'

const all = await openCatalog(t)
const { sql } = all
const bookCount = 30

testWithDoctor(t, all)(
  'missing books are deleted while accounts write progress in them',
  async t => {
    const names = Array.from({ length: bookCount }, (_, i) => `S/${i}.cbz`)
    const library = await createTestLibrary(t, all, {
      ...Object.fromEntries(names.map(name => [name, comic({ pages: 1 })])),
      'S/present.cbz': comic(),
      'T/1.cbz': comic(),
    })
    await library.scan()
    for (const name of names) library.remove(name)
    await library.scan({ options: { confirmMissing: true } })
    const books = (await library.books()).filter(book => book.missingAt !== null)
    t.equal(books.length, bookCount)
    const readers = await Promise.all(Array.from({ length: 6 }, () => createReader(sql)))
    const errors: string[] = []
    const reading = readers.map(async ({ id }) => {
      for (const { id: bookId } of [...books, ...books]) {
        const write = { bookId, currentPage: 1 }
        await recordReading(sql, unrestrictedViewer(id), testOrigin, write).catch(error => {
          if (error.name !== 'NotFound') errors.push(String(error))
        })
      }
    })
    const viewer = unrestrictedViewer(readers[0]!.id)
    const deleted = await purgeSeries(sql, viewer, books[0]!.seriesId)
    await Promise.all(reading)
    t.equal(deleted, bookCount)
    t.same(errors, [])
  },
)
