// Erasing beside readers: neither waits for the other for ever, and nothing is left of what is gone.
import t from 'tap'
import { purgeSeries } from '../../../lib/catalog/book/purge.ts'
import { moveTo } from '../../../lib/catalog/progress/progress.ts'
import { catalogue, checkedBy, comic, reader, shelve } from '../../kit/library.ts'

const all = await catalogue(t)
const { sql } = all
const count = 30

const viewer = (accountId: string) => ({
  accountId,
  libraries: null,
  allowedTags: [],
  deniedTags: [],
  ageLimit: null,
  showsUnrated: true,
})

checkedBy(t, all)(
  'missing books are erased while accounts write where they are in them',
  async t => {
    const names = Array.from({ length: count }, (_, i) => `S/${i}.cbz`)
    const shelf = await shelve(t, all, {
      ...Object.fromEntries(names.map(name => [name, comic({ pages: 1 })])),
      'S/kept.cbz': comic(),
      'T/1.cbz': comic(),
    })
    await shelf.scan()
    for (const name of names) shelf.remove(name)
    await shelf.scan({ options: { confirmMissing: true } })
    const books = (await shelf.books()).filter(book => book.missingAt !== null)
    t.equal(books.length, count)
    const readers = await Promise.all(Array.from({ length: 6 }, () => reader(sql)))
    const failed: string[] = []
    const read = readers.map(async ({ id }) => {
      for (const book of [...books, ...books]) {
        const position = { currentPage: 1 }
        await moveTo(sql, viewer(id), { bookId: book.id, position }).catch(error => {
          if (error.name !== 'NotFound') failed.push(String(error))
        })
      }
    })
    const erased = await purgeSeries(sql, viewer(readers[0]!.id), books[0]!.seriesId)
    await Promise.all(read)
    t.equal(erased, count)
    t.same(failed, [])
  },
)
