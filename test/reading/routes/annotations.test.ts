// Annotations over HTTP: own bookmarks with notes, synchronized between devices.
import { test } from 'tap'
import { newId } from '../../../lib/base/id.ts'
import { forgetDeletions } from '../../../lib/reading/annotation/write.ts'
import { hideSeries, insertApiKey } from '../../kit/accounts.ts'
import { eventsSince, lastEvent } from '../../kit/events.ts'
import { comic, createTestLibrary } from '../../kit/library.ts'
import { insertBooks } from '../../kit/reading.ts'
import { startApi, startApiWithoutPipeline } from '../../kit/server.ts'

const page = (position: number, more: object = {}) => ({
  kind: 'bookmark',
  locator: { href: 'page.jpg', type: 'image/jpeg', locations: { position } },
  ...more,
})

test('annotations', async t => {
  const all = await startApiWithoutPipeline(t)
  const { sql } = all
  const { books, series, library } = await insertBooks(sql, [100, 100])
  const [book, other] = books as [string, string]
  const path = `/books/${book}/annotations`
  const notesIn = (body: any) => body.data.map((one: any) => one.note)

  await t.test('bookmarks of a book in its order, as they were written', async t => {
    const reader = await all.createUser('reader')
    const locator = {
      href: 'page.jpg',
      type: 'image/jpeg',
      title: 'Chapter 2',
      locations: { position: 30, progression: 0.5, cssSelector: '#p7' },
      text: { highlight: 'Once upon' },
    }
    const before = await lastEvent(sql)
    const { status, body } = await reader.post(path, {
      ...page(1, { note: '  later \n', text: 'Once upon a time', color: '#ffcc00' }),
      ...{ locator, devicePosition: '/body/p[7].3', createdAt: '2020-01-02T03:04:05Z' },
    })
    t.equal(status, 201)
    t.match(body, {
      ...{ bookId: book, kind: 'bookmark', locator, devicePosition: '/body/p[7].3' },
      ...{ note: 'later', text: 'Once upon a time', color: '#ffcc00', deletedAt: null },
      createdAt: '2020-01-02T03:04:05.000Z',
    })
    t.same(await eventsSince(sql, before), [
      {
        number: before + 1,
        ...{ type: 'annotation_updated', library, series, book, account: reader.id },
      },
    ])
    await reader.post(path, page(4, { note: 'earlier' }))
    await reader.post(path, page(50, { kind: 'highlight', note: 'marked' }))
    await reader.post(`/books/${other}/annotations`, page(1, { note: 'elsewhere' }))
    t.same(notesIn((await reader.get(path)).body), ['earlier', 'later', 'marked'])
    t.same(notesIn((await reader.get(`${path}?kind=bookmark`)).body), ['earlier', 'later'])
    const second = (await reader.get(`${path}?page=2&pageSize=2`)).body
    t.same([notesIn(second), second.total], [['marked'], 3])
    t.same(
      (await (await all.createUser('admin')).get(path)).body.data,
      [],
      'an administrator does not see them',
    )
  })

  await t.test('a repeated request changes nothing, also after a deletion', async t => {
    const reader = await all.createUser('reader')
    const id = newId()
    const first = await reader.post(path, page(2, { id, note: 'first' }))
    t.same([first.status, first.body.id], [201, id])
    const again = await reader.post(path, page(9, { id: id.toUpperCase(), note: 'second' }))
    t.same([again.status, again.body], [200, first.body])
    const conflict = await reader.post(`/books/${other}/annotations`, page(2, { id }))
    t.equal(conflict.status, 409, 'the id belongs to another book')
    const stranger = await all.createUser('reader')
    t.equal((await stranger.post(path, page(3, { id }))).status, 201, 'ids are of the account')
    t.equal((await reader.delete(`${path}/${id}`)).status, 204)
    t.equal((await reader.delete(`${path}/${id}`)).status, 204)
    const late = await reader.post(path, page(2, { id, note: 'first' }))
    t.equal(late.status, 200)
    t.match(late.body, { deletedAt: String, note: null, locator: null })
    t.equal((await reader.patch(`${path}/${id}`, { note: 'x' })).status, 404)
    t.equal((await reader.delete(`${path}/${newId()}`)).status, 404)
    t.equal((await stranger.get(path)).body.total, 1)
  })

  await t.test('a note is edited; absent fields stay', async t => {
    const reader = await all.createUser('reader')
    const { body } = await reader.post(path, page(2, { note: 'one', color: 'yellow' }))
    const changed = await reader.patch(`${path}/${body.id}`, { ...body, note: 'two' })
    t.match(changed.body, { note: 'two', color: 'yellow', createdAt: body.createdAt })
    t.ok(changed.body.updatedAt > body.updatedAt)
    const cleared = await reader.patch(`${path}/${body.id}`, { note: null, color: 'blue' })
    t.match(cleared.body, { note: null, color: 'blue', locator: page(2).locator })
    const moved = await reader.patch(`${path}/${body.id}`, { locator: page(8).locator })
    t.equal(moved.body.locator.locations.position, 8)
    const elsewhere = `/books/${other}/annotations/${body.id}`
    t.equal((await reader.patch(elsewhere, { note: 'x' })).status, 404)
    t.equal((await reader.delete(elsewhere)).status, 404)
  })

  await t.test('what is too long or outside the book is refused', async t => {
    const reader = await all.createUser('reader')
    const refused = [
      page(101),
      page(1, { note: 'x'.repeat(10_001) }),
      page(1, { kind: 'scribble' }),
      page(1, { color: 'url(x)' }),
      page(1, { id: 'not-an-id' }),
      page(1, { createdAt: 'yesterday' }),
      page(1, { note: 'nul \u0000' }),
      { kind: 'bookmark' },
      { kind: 'bookmark', locator: { href: 'a', type: 'image/jpeg' } },
      { ...page(1), locator: { ...page(1).locator, other: 'x'.repeat(9_000) } },
    ]
    for (const body of refused) t.equal((await reader.post(path, body)).status, 400)
    t.equal((await reader.post(path, page(100, { note: 'x'.repeat(10_000) }))).status, 201)
    await sql`
      insert into annotation (account_id, id, book_id, kind, locator, created_at, updated_at)
      select ${reader.id}, gen_random_uuid(), ${other}, 'bookmark', '{}', now(), now() - interval '1 hour' - n * interval '1 ms'
      from generate_series(1, 10000) n`
    const { status, body } = await reader.post(`/books/${other}/annotations`, page(1))
    t.same([status, body.details], [409, { reason: 'limit_reached', limit: 10_000 }])
    t.equal((await reader.post(path, page(1))).status, 201, 'another book has room')
  })

  await t.test(
    'hidden and unknown books are not found, and their annotations not listed',
    async t => {
      const reader = await all.createUser('reader')
      const { body } = await reader.post(path, page(1))
      await hideSeries(sql, reader.id, [series])
      const one = `${path}/${body.id}`
      for (const { status } of [
        await reader.get(path),
        await reader.post(path, page(2)),
        await reader.patch(one, { note: 'x' }),
        await reader.delete(one),
        await reader.get(`/books/${newId()}/annotations`),
      ])
        t.equal(status, 404)
      t.same((await reader.get('/annotations')).body.data, [])
      t.same((await reader.get('/annotations?since=2000-01-01T00:00:00Z')).body.data, [])
    },
  )

  await t.test('devices learn of every change once, deletions included', async t => {
    const reader = await all.createUser('reader')
    const add = async (note: string) => (await reader.post(path, page(1, { note }))).body
    const [one, two, three] = [await add('one'), await add('two'), await add('three')]
    const newest = (await reader.get('/annotations?limit=2')).body
    t.same(notesIn(newest), ['three', 'two'])
    const rest = (await reader.get(newest.next.replace('/api/v1', ''))).body
    t.same([notesIn(rest), rest.next], [['one'], null])
    await reader.patch(`${path}/${one.id}`, { note: 'uno' })
    await reader.delete(`${path}/${two.id}`)
    const since = `/annotations?since=${three.updatedAt}`
    const changes = (await reader.get(since)).body.data
    t.match(changes, [
      { id: one.id, note: 'uno', deletedAt: null },
      { id: two.id, note: null, deletedAt: String },
    ])
    const step = (await reader.get(`${since}&limit=1`)).body
    t.same((await reader.get(step.next.replace('/api/v1', ''))).body.data, changes.slice(1))
    t.same(notesIn((await reader.get('/annotations')).body), ['uno', 'three'])
    t.equal((await reader.get(`${since}&before=${three.updatedAt}`)).status, 400)
    await sql`update annotation set deleted_at = deleted_at - interval '91 days'
      where account_id = ${reader.id} and deleted_at is not null`
    t.equal(await forgetDeletions(sql), 1)
    t.equal((await reader.get(since)).body.data.length, 1)
  })

  await t.test(
    'simultaneous changes get different times, in the order of their commits',
    async t => {
      const reader = await all.createUser('reader')
      await Promise.all(Array.from({ length: 20 }, (_, i) => reader.post(path, page(i + 1))))
      const { data } = (await reader.get('/annotations')).body
      t.equal(new Set(data.map((one: any) => one.updatedAt)).size, 20)
    },
  )

  await t.test('they are exported, and end with the account and with the book', async t => {
    const reader = await all.createUser('reader')
    await reader.post(path, page(1, { note: 'mine' }))
    const { body } = await reader.get('/user/reading-export')
    t.same([body.entries.length, notesIn({ data: body.annotations })], [0, ['mine']])
    const gone = await insertBooks(sql, [10], 'Gone')
    await reader.post(`/books/${gone.books[0]}/annotations`, page(1))
    const count = async () =>
      (await sql`select from annotation where account_id = ${reader.id}`).length
    t.equal(await count(), 2)
    await sql`delete from book where id = ${gone.books[0]!}`
    t.equal(await count(), 1)
    await sql`delete from account where id = ${reader.id}`
    t.equal(await count(), 0)
  })

  await t.test('a key that may only read writes none', async t => {
    const { id } = await all.createUser('reader')
    const { key } = await insertApiKey(sql, id, ['BooksRead'])
    const app = all.withHeaders({ 'x-api-key': key })
    t.equal((await app.get(path)).status, 200)
    t.equal((await app.post(path, page(1))).status, 403)
  })
})

test('annotations stay with a book whose file is replaced or moved', async t => {
  const all = await startApi(t)
  const library = await createTestLibrary(t, all, { 'Akira/1.cbz': comic({ pages: 3 }) })
  await library.scan()
  const reader = await all.createUser('reader')
  const [book] = await library.books()
  const path = `/books/${book!.id}/annotations`
  await reader.post(path, page(3, { note: 'still here' }))
  library.write('Akira/1.cbz', comic({ pages: 2 }))
  await library.scan()
  t.match((await reader.get(path)).body.data, [{ note: 'still here', locator: page(3).locator }])
  library.move('Akira/1.cbz', 'Akira/01.cbz')
  await library.scan()
  t.equal((await reader.get(path)).body.total, 1)
})
