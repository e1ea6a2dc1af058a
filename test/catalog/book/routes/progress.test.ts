// Reading progress over HTTP.
import { test } from 'tap'
import { newId } from '../../../../lib/base/id.ts'
import { allPages } from '../../../kit/http/pagination.ts'
import { comic, createTestLibrary } from '../../../kit/library.ts'
import { startApi } from '../../../kit/server.ts'

test('progress', async t => {
  const all = await startApi(t)
  const shelf = await createTestLibrary(t, all, {
    'Akira/Akira 1.cbz': comic({ pages: 40 }),
    'Akira/Akira 2.cbz': comic({ pages: 1 }),
    'Akira/broken.cbz': Buffer.from('no archive'),
  })
  await shelf.scan()
  const { id } = await shelf.book('Akira 1.cbz')
  const path = `/books/${id}/progress`

  await t.test('there is no progress before the first write and after deletion', async t => {
    const reader = await all.createUser('reader')
    const none = await reader.get(path)
    t.same([none.status, none.bytes.length], [204, 0])
    t.equal((await reader.delete(path)).status, 204)
    const { status, body } = await reader.put(path, { current_page: 12, is_completed: false })
    t.equal(status, 200)
    t.match(body, {
      id,
      bookId: id,
      userId: reader.id,
      currentPage: 12,
      current_page: 12,
      completed: false,
      isCompleted: false,
      is_completed: false,
      progressPercentage: null,
      completedAt: null,
    })
    t.same((await reader.get(path)).body, body)
    t.equal((await reader.delete(path)).status, 204)
    t.equal((await reader.get(path)).status, 204)
    t.equal((await reader.get(`/books/${newId()}/progress`)).status, 404)
  })

  await t.test('snake_case and camelCase are accepted', async t => {
    const reader = await all.createUser('reader')
    for (const input of [
      { current_page: 40, is_completed: true },
      { currentPage: 40, completed: true },
      { currentPage: 40, isCompleted: true, progress_percentage: 1 },
    ])
      t.match((await reader.put(path, input)).body, { currentPage: 40, completed: true })
    t.match((await reader.patch(path, { currentPage: 3 })).body, {
      currentPage: 3,
      completed: false,
    })
  })

  await t.test('a book is completed by its last page, explicitly, or by percentage', async t => {
    const reader = await all.createUser('reader')
    for (const [input, page, completed] of [
      [{ currentPage: 39 }, 39, false],
      [{ currentPage: 40 }, 40, true],
      [{ currentPage: 4000 }, 40, true],
      [{ currentPage: 40, completed: false }, 40, false],
      [{ current_page: 40, is_completed: false, progressPercentage: 1 }, 40, false],
      [{ currentPage: 5, completed: true }, 5, true],
      [{ currentPage: 5, progressPercentage: 0.979 }, 5, false],
      [{ currentPage: 5, progressPercentage: 0.98 }, 5, true],
      [{ currentPage: 5, progressPercentage: 0.99, completed: false }, 5, false],
      [{ progressPercentage: 0.5 }, 20, false],
      // 0.575 × 40 is less than 23 in floating point.
      [{ progressPercentage: 0.575 }, 23, false],
      [{ progressPercentage: 1, completed: false }, 40, false],
      [{ completed: true }, 40, true],
      [{ currentPage: 0 }, 0, false],
    ] as const) {
      const { status, body } = await reader.put(path, input)
      t.match(
        { status, ...body },
        { status: 200, currentPage: page, completed },
        JSON.stringify(input),
      )
      t.equal(body.completedAt !== null, completed)
    }
  })

  await t.test('a book with an unknown page count is not completed by a page', async t => {
    const reader = await all.createUser('reader')
    const broken = await shelf.book('broken.cbz')
    const write = async (input: object) =>
      (await reader.put(`/books/${broken.id}/progress`, input)).body
    t.match(await write({ currentPage: 7 }), { currentPage: 7, completed: false })
    t.match(await write({ completed: true }), { currentPage: 7, completed: true })
    t.match((await reader.post(`/books/${broken.id}/read`)).body, { completed: true })
  })

  await t.test('invalid progress is rejected', async t => {
    const reader = await all.createUser('reader')
    for (const input of [
      {},
      { currentPage: -1 },
      { currentPage: 1.5 },
      { currentPage: '1' },
      { currentPage: 2 ** 31 },
      { currentPage: 1, progressPercentage: 1.1 },
      { currentPage: 1, unknown: true },
      { currentPage: 1, modified: 'yesterday' },
    ])
      t.equal((await reader.put(path, input)).status, 400, JSON.stringify(input))
    t.equal((await reader.get(path)).status, 204)
  })

  await t.test('writing the first page restarts a completed book, later pages do not', async t => {
    const reader = await all.createUser('reader')
    const done = (await reader.post(`/books/${id}/read`)).body
    t.match(done, { currentPage: 40, completed: true })
    const again = (await reader.put(path, { currentPage: 40 })).body
    t.equal(again.completedAt, done.completedAt, 'completion time is unchanged')
    const back = (await reader.put(path, { currentPage: 30 })).body
    t.match(back, { completed: false, startedAt: done.startedAt, completedAt: null })
    await reader.put(path, { currentPage: 40 })
    const restarted = (await reader.put(path, { currentPage: 2 })).body
    t.ok(restarted.startedAt > done.startedAt)
    t.match(restarted, { completed: false, completedAt: null })
    t.equal((await reader.put(path, { currentPage: 1 })).body.startedAt, restarted.startedAt)
  })

  await t.test('the last write wins unless its time is older', async t => {
    const reader = await all.createUser('reader')
    const at = (seconds: number) => new Date(Date.now() + seconds * 1000).toISOString()
    t.match((await reader.put(path, { currentPage: 20, modified: at(-60) })).body, {
      currentPage: 20,
    })
    t.match((await reader.put(path, { currentPage: 9, updated_at: at(-90) })).body, {
      currentPage: 20,
    })
    t.match((await reader.put(path, { currentPage: 8, modified: at(-30) })).body, {
      currentPage: 8,
    })
    const ahead = (await reader.put(path, { currentPage: 7, modified: at(3600) })).body
    t.ok(ahead.updatedAt <= at(1), 'times in the future do not block later writes')
    t.match((await reader.put(path, { currentPage: 6 })).body, { currentPage: 6 })
  })

  await t.test('a position that is older than a mark as unread is only history', async t => {
    const reader = await all.createUser('reader')
    const modified = new Date(Date.now() - 3_600_000).toISOString()
    const older = { currentPage: 7, modified }
    for (const clear of [() => reader.post(`/books/${id}/unread`), () => reader.delete(path)]) {
      t.equal((await reader.put(path, { currentPage: 12 })).status, 200)
      await clear()
      for (const update of [older, { ...older, completed: true }, older]) {
        const { status, bytes } = await reader.put(path, update)
        t.same([status, bytes.length], [204, 0])
      }
      t.equal((await reader.get(path)).status, 204)
    }
    t.match(await reader.put(path, { currentPage: 3 }), { status: 200, body: { currentPage: 3 } })
  })

  await t.test('concurrent writes leave the counters consistent', async t => {
    const reader = await all.createUser('reader')
    const other = await shelf.book('Akira 2.cbz')
    await Promise.all(
      Array.from({ length: 30 }, (_, i) =>
        i % 3 === 0
          ? reader.post(`/books/${other.id}/${i % 2 === 0 ? 'read' : 'unread'}`)
          : reader.put(path, { currentPage: i }),
      ),
    )
    await Promise.all([
      reader.post(`/books/${other.id}/read`),
      reader.put(path, { currentPage: 9 }),
    ])
    const series = await reader.get('/series')
    t.match(series.body.data[0], { readCount: 1, unreadCount: 2 })
    t.same((await reader.get('/books/in-progress')).body.total, 1)
  })

  await t.test('all progress is one list, newest first', async t => {
    const reader = await all.createUser('reader')
    const other = await shelf.book('Akira 2.cbz')
    await reader.put(path, { currentPage: 3 })
    await reader.put(`/books/${other.id}/progress`, { currentPage: 1 })
    const { body } = await reader.get('/progress')
    t.equal(body.total, 2)
    t.same(
      body.data.map((row: any) => row.bookId),
      [other.id, id],
    )
    t.same(await allPages(reader, '/progress?pageSize=1'), body.data)
    t.match((await (await all.createUser('reader')).get('/progress')).body, { data: [], total: 0 })
  })

  await t.test('reading and writing progress require permissions', async t => {
    const reader = await all.createUser('reader')
    await all.sql`update api_key set permissions = '{BooksRead}' where account_id = ${reader.id}`
    t.equal((await reader.get(path)).status, 204)
    t.equal((await reader.put(path, { currentPage: 1 })).status, 403)
    t.equal((await reader.post(`/books/${id}/read`)).status, 403)
  })
})
