// Duplicate groups over HTTP.
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { comic, createTestLibrary } from '../../../kit/library.ts'
import { startApi } from '../../../kit/server.ts'

const all = await startApi(t)
const maintainer = await all.createUser('maintainer')
const someone = await all.createUser('reader')
const [twice, thrice] = [comic(), comic()]
const one = await createTestLibrary(t, all, {
  'Akira/1.cbz': twice,
  'Akira/2.cbz': thrice,
  'ÁKIRA/9.cbz': comic(),
  'Zot/1.cbz': thrice,
  // Not duplicates of each other.
  'Empty/1.cbz': Buffer.alloc(0),
  'Empty/2.cbz': Buffer.alloc(0),
})
const two = await createTestLibrary(t, all, { 'Copy/1.cbz': twice, 'Copy/2.cbz': thrice })
await one.scan()
await two.scan()
await all.dedupe()

t.test('books with equal content form groups, largest first', async t => {
  const { status, body } = await someone.get('/duplicates')
  t.equal(status, 200)
  t.match(body, { total: 2, totalDuplicateBooks: 5, page: 1, pageSize: 500, totalPages: 1 })
  t.same(
    body.data.map((g: { duplicateCount: number }) => g.duplicateCount),
    [3, 2],
  )
  const books = [...(await one.books()), ...(await two.books())]
  const { sha256 } = books.find(b => b.folder === 'Copy' && b.name === '2.cbz')!
  t.equal(body.data[0].fileHash, sha256)
  const same = books.filter(b => b.sha256 === sha256).map(b => b.id)
  t.same(body.data[0].bookIds, same.sort())
  t.ok(Date.parse(body.data[0].createdAt))
  for (const { bookIds, books: members } of body.data) {
    t.same(
      members.map((member: { id: string }) => member.id),
      bookIds,
    )
    for (const member of members) {
      const { id, title, seriesId, seriesName, libraryId, libraryName, path, fileSize, pageCount } =
        (await someone.get(`/books/${member.id}`)).body.book
      t.same(member, {
        ...{ id, title, seriesId, seriesName, libraryId, libraryName, path, fileSize, pageCount },
      })
    }
  }
  const second = await someone.get('/duplicates?page=2&page_size=1')
  t.match(second.body, { total: 2, page: 2, pageSize: 1, totalPages: 2 })
  t.same(second.body.data, [body.data[1]])
})

t.test('series form groups by title or external id', async t => {
  const zot = await one.book('9.cbz')
  const copy = (await two.books())[0]!
  for (const id of [zot.seriesId, copy.seriesId])
    await all.sql`
      insert into external_reference (kind, series_id, source, external_id)
      values ('id', ${id}, 'shop', '42')`
  await all.dedupe()
  const { body } = await someone.get('/duplicates/series')
  t.match(body, { total: 2, totalDuplicateSeries: 4, externalIdGroups: 1, titleGroups: 1 })
  const title = await someone.get('/duplicates/series?matchType=title')
  t.match(title.body, { total: 1, externalIdGroups: 0, titleGroups: 1 })
  t.match(title.body.data, [
    { matchType: 'title', libraryId: one.id, matchKey: /^akira/, duplicateCount: 2 },
  ])
  t.match(title.body.data[0].members, [
    { libraryId: one.id, libraryName: 'Shelf', title: /[aá]kira/i, bookCount: Number },
    { libraryId: one.id },
  ])
  const other = await someone.get('/duplicates/series?match_type=external_id')
  t.match(other.body.data, [{ matchKey: 'shop:42', libraryId: null, duplicateCount: 2 }])
  t.equal((await someone.get('/duplicates/series?matchType=colour')).status, 400)
})

t.test('groups need two visible members', async t => {
  const child = await all.createUser('maintainer')
  await all.sql`update account set all_libraries = false where id = ${child.id}`
  await all.sql`insert into account_library (account_id, library_id) values (${child.id}, ${one.id})`
  const { body } = await child.get('/duplicates')
  t.match(body, { total: 1, totalDuplicateBooks: 2 })
  const mine = new Set((await one.books()).map(b => b.id))
  t.ok(body.data[0].bookIds.every((id: string) => mine.has(id)))
  t.match((await child.get('/duplicates/series')).body, { total: 1, titleGroups: 1 })
  const groups = (await someone.get('/duplicates')).body.data
  const hidden = groups.find((g: { id: string }) => g.id !== body.data[0].id)
  t.equal((await child.delete(`/duplicates/${hidden.id}`)).status, 404)
  const shared = (await someone.get('/duplicates/series?matchType=external_id')).body.data[0]
  t.equal((await child.delete(`/duplicates/series/${shared.id}`)).status, 404)
  const setMissing = (at: Date | null) =>
    all.sql`update book set missing_at = ${at} where id = ${hidden.bookIds[0]}`
  await setMissing(new Date())
  const present = (await someone.get('/duplicates')).body.data
  t.notOk(
    present.some((g: { id: string }) => g.id === hidden.id),
    'a missing book is no member',
  )
  await setMissing(null)
  t.equal((await someone.get('/duplicates')).body.total, groups.length)
})

t.test('deleting a group changes no book, and the next search recreates it', async t => {
  const [group] = (await someone.get('/duplicates')).body.data
  t.equal((await someone.delete(`/duplicates/${group.id}`)).status, 403)
  t.equal((await maintainer.delete(`/duplicates/series/${group.id}`)).status, 404)
  t.equal((await maintainer.delete(`/duplicates/${group.id}`)).status, 204)
  t.equal((await maintainer.delete(`/duplicates/${group.id}`)).status, 404)
  const [pair] = (await someone.get('/duplicates/series')).body.data
  t.equal((await maintainer.delete(`/duplicates/${pair.id}`)).status, 404)
  t.equal((await maintainer.delete(`/duplicates/series/${pair.id}`)).status, 204)
  t.equal((await someone.get('/duplicates')).body.total, 1)
  t.equal((await one.books()).length, 6)

  // The search does not end before the third request.
  const lock = await all.sql.reserve()
  await lock`select pg_advisory_lock(hashtext('stackroom.dedupe'))`
  const responses = await Promise.all([1, 2, 3].map(() => maintainer.post('/duplicates/scan')))
  await lock`select pg_advisory_unlock(hashtext('stackroom.dedupe'))`
  lock.release()
  t.same(responses.map(a => a.status).sort(), [200, 409, 409])
  const started = responses.find(a => a.status === 200)!.body
  t.match(started, { taskId: /^[0-9a-f-]{36}$/, message: String })
  t.equal((await all.sql`select 1 from pgboss.job where id = ${started.taskId}`).length, 1)
  for (let left = 3000; left > 0; left--) {
    all.pipeline.wake()
    if ((await someone.get('/duplicates')).body.total === 2) break
    await sleep(20)
  }
  t.equal((await someone.get('/duplicates')).body.total, 2)
  t.equal((await someone.get('/duplicates/series')).body.total, 2)
  t.equal((await someone.post('/duplicates/scan')).status, 403)
})
