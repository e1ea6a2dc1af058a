// Edits of metadata concurrent with a scan of the same books.
import t from 'tap'
import { doctorFindings } from '../../kit/catalog.ts'
import { comic, createTestLibrary } from '../../kit/library.ts'
import { startApi } from '../../kit/server.ts'

const all = await startApi(t)

t.test('users change metadata while a scan writes the same rows', async t => {
  const admin = await all.createUser('admin')
  const files = Object.fromEntries(
    Array.from({ length: 24 }, (_, i) => [`Series ${i % 3}/${i}.cbz`, comic({ pages: 1 })]),
  )
  const shelf = await createTestLibrary(t, all, files)
  await shelf.scan()
  const books = await shelf.books()
  let isOver = false
  const scanned = shelf.scan({ mode: 'deep' }).finally(() => {
    isOver = true
  })
  const statuses = new Set<number>()
  const edit = async (start: number) => {
    for (let i = start; !isOver; i++) {
      const { id, seriesId } = books[i % books.length]!
      const responses = [
        await admin.patch(`/series/${seriesId}`, { title: `Title ${i}` }),
        await admin.patch(`/books/${id}/metadata`, { title: `Book ${i}`, writer: `Writer ${i}` }),
        await admin.put(`/books/${id}/genres`, { genres: [`Genre ${i % 5}`, 'Common'] }),
        await admin.put(`/series/${seriesId}/tags`, { tags: [`Tag ${i % 7}`] }),
      ]
      for (const { status } of responses) statuses.add(status)
    }
  }
  await Promise.all([edit(0), edit(8), edit(16)])
  t.equal((await scanned).state, 'completed')
  t.same([...statuses], [200])
  t.same(await doctorFindings(all), [])
})

t.test('users give books the same new genres at the same moment', async t => {
  const admin = await all.createUser('admin')
  const files = Object.fromEntries(
    Array.from({ length: 8 }, (_, i) => [`Series ${i}/${i}.cbz`, comic({ pages: 1 })]),
  )
  const shelf = await createTestLibrary(t, all, files)
  await shelf.scan()
  const books = await shelf.books()
  for (let round = 0; round < 15; round++) {
    const genres = Array.from({ length: 5 }, (_, i) => `Simultaneous ${round} ${i}`)
    const responses = await Promise.all(
      books.map(({ id }) => admin.put(`/books/${id}/genres`, { genres })),
    )
    t.same([...new Set(responses.map(({ status }) => status))], [200])
  }
})
