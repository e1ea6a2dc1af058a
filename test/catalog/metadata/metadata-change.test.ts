import t from 'tap'
import { changing } from '../../../lib/catalog/metadata/metadata-change.ts'
import { comic, faults, shelve } from '../../kit/library.ts'
import { serve } from '../../kit/server.ts'

const all = await serve(t)

t.test('users change metadata while a scan writes the same rows', async t => {
  const admin = await all.as('admin')
  const files = Object.fromEntries(
    Array.from({ length: 24 }, (_, i) => [`Series ${i % 3}/${i}.cbz`, comic({ pages: 1 })]),
  )
  const shelf = await shelve(t, all, files)
  await shelf.scan()
  const books = await shelf.books()
  let isOver = false
  const scanned = shelf.scan({ mode: 'deep' }).finally(() => {
    isOver = true
  })
  const statuses = new Set<number>()
  const edit = async (begin: number) => {
    for (let i = begin; !isOver; i++) {
      const { id, seriesId } = books[i % books.length]!
      const answers = [
        await admin.patch(`/series/${seriesId}`, { title: `Title ${i}` }),
        await admin.patch(`/books/${id}/metadata`, { title: `Book ${i}`, writer: `Writer ${i}` }),
        await admin.put(`/books/${id}/genres`, { genres: [`Genre ${i % 5}`, 'Common'] }),
        await admin.put(`/series/${seriesId}/tags`, { tags: [`Tag ${i % 7}`] }),
      ]
      for (const { status } of answers) statuses.add(status)
    }
  }
  await Promise.all([edit(0), edit(8), edit(16)])
  t.equal((await scanned).state, 'completed')
  t.same([...statuses], [200])
  t.same(await faults(all), [])
})

t.test('what the database broke off is begun anew, and other errors are not', async t => {
  const { sql } = all
  const failing = (code: string, times: number) => {
    let runs = 0
    return async () => {
      runs += 1
      if (runs <= times) throw Object.assign(new Error(code), { code })
      return runs
    }
  }
  t.equal(await changing(sql, failing('40P01', 3)), 4)
  await t.rejects(changing(sql, failing('40P01', 4)), { code: '40P01' })
  await t.rejects(changing(sql, failing('23505', 1)), { code: '23505' })
})
