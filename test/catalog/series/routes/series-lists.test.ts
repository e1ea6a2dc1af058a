// Lists of series over HTTP.
import { test } from 'tap'
import { hideSeries } from '../../../kit/accounts.ts'
import { allPages } from '../../../kit/http/pagination.ts'
import { comic, createTestLibrary } from '../../../kit/library.ts'
import { startApi } from '../../../kit/server.ts'

const titlesOf = (series: any[]) => series.map(one => one.title)
const info = (genre: string, tags: string) =>
  `<ComicInfo><Genre>${genre}</Genre><Tags>${tags}</Tags></ComicInfo>`

test('lists of series', async t => {
  const all = await startApi(t)
  const admin = await all.createUser('admin')
  const shelf = await createTestLibrary(t, all, {
    'Akira/Akira 1.cbz': comic({ pages: 3, info: info('Action, Drama', 'cyberpunk') }),
    'Akira/Akira 2.cbz': comic({ pages: 1 }),
    'Berserk/Berserk 1.cbz': comic({ pages: 2, info: info('Action', 'dark') }),
    'Élan/Élan 1.cbz': comic({ pages: 2 }),
    'The Cat/The Cat 1.cbz': comic({ pages: 2 }),
    '20th Century/20th Century 1.cbz': comic({ pages: 2 }),
  })
  await shelf.scan()
  const other = await createTestLibrary(t, all, { 'Dune/Dune 1.cbz': comic() })
  await other.scan()
  const series = (await admin.get('/series')).body.data
  const idOf = (title: string) => series.find((one: any) => one.title === title)?.id

  await t.test('pages are consistent under every sort order, ascending and descending', async t => {
    const sorts =
      'name,date_added,date_updated,release_date,date_read,book_count,file_size,filename,page_count'
    for (const sort of sorts.split(',')) {
      const up = await allPages(admin, `/series?pageSize=2&sort=${sort},asc`)
      const down = await allPages(admin, `/series?page_size=4&sort=${sort}&order=desc`)
      t.equal(new Set(up.map(one => one.id)).size, 6, sort)
      t.equal(new Set(down.map(one => one.id)).size, 6, sort)
      if (!['date_read', 'release_date'].includes(sort))
        t.same(titlesOf(down), titlesOf(up).reverse(), sort)
    }
    const most = (await admin.get('/series?sort=book_count,desc&pageSize=1')).body.data[0]
    t.match(most, { title: 'Akira', bookCount: 2, pageCount: 4, unreadCount: 2 })
  })

  await t.test('series must have all requested genres and tags', async t => {
    const list = async (query: string) =>
      titlesOf(await allPages(admin, `/series?pageSize=1&${query}`))
    t.same(await list('genres=action'), ['Akira', 'Berserk'])
    t.same(await list('genres=Action,drama'), ['Akira'])
    t.same(await list('genres=Action&tags=DARK'), ['Berserk'])
    t.same(await list('tags=dark,cyberpunk'), [])
    t.same(await list(`genres=action&library_id=${other.id}`), [])
    t.equal((await admin.get(`/series?genres=${Array(60).fill('a').join(',')}`)).status, 400)
  })

  await t.test('lists can be limited to a library', async t => {
    t.same(titlesOf(await allPages(admin, `/series?libraryId=${other.id}`)), ['Dune'])
    t.equal((await allPages(admin, `/libraries/${shelf.id}/series?pageSize=2`)).length, 5)
    t.equal((await admin.get(`/libraries/${idOf('Akira')}/series`)).status, 404)
  })

  await t.test('recent series are listed, the last first', async t => {
    for (const list of ['recently-added', 'recently-updated']) {
      const { data, total } = (await admin.get(`/series/${list}`)).body
      t.same([data.length, total], [6, 6])
      t.equal(data[0].title, 'Dune')
      t.same(titlesOf(await allPages(admin, `/series/${list}?pageSize=4`)), titlesOf(data))
      t.equal((await admin.get(`/libraries/${shelf.id}/series/${list}`)).body.total, 5)
    }
  })

  await t.test('series in progress have an unfinished book', async t => {
    const reader = await all.createUser('reader')
    const books = await shelf.books()
    const put = (series: string, current_page: number) =>
      reader.put(`/books/${books.find(book => book.series === series)!.id}/progress`, {
        current_page,
      })
    await put('Berserk', 1)
    await put('Akira', 1)
    await put('Élan', 2)
    t.same(titlesOf((await reader.get('/series/in-progress')).body.data), ['Akira', 'Berserk'])
    t.same(titlesOf(await allPages(reader, '/series/in-progress?pageSize=1')), ['Akira', 'Berserk'])
    t.same(titlesOf((await reader.get(`/series/in-progress?libraryId=${other.id}`)).body.data), [])
    t.same((await admin.get('/series/in-progress')).body.data, [])
    const [read] = (await reader.get('/series?sort=date_read,desc')).body.data
    t.match(read, { title: 'Élan', readCount: 1, unreadCount: 0 })
    t.ok(read.lastReadAt)
  })

  await t.test('lists are filtered by condition and text', async t => {
    const list = async (body: unknown) =>
      titlesOf(await allPages(admin, '/series/list?pageSize=1', { method: 'POST', body }))
    t.equal((await list({})).length, 6)
    t.same(await list({ condition: { genre: { operator: 'is', value: 'drama' } } }), ['Akira'])
    t.same(await list({ condition: { name: { operator: 'beginsWith', value: 'él' } } }), ['Élan'])
    t.same(await list({ fullTextSearch: 'elan' }), ['Élan'])
    const bad = await admin.post('/series/list', {
      condition: { isbn: { operator: 'isNull' } },
    })
    t.match(bad, { status: 400, body: { message: /condition\.isbn/ } })
  })

  await t.test('search finds titles', async t => {
    const search = async (body: object) =>
      titlesOf((await admin.post('/series/search', body)).body.data)
    t.same(await search({ query: 'berserk' }), ['Berserk'])
    t.same(await search({ query: '  ' }), [])
    t.same(await search({ query: '???' }), [])
    t.same(await search({ query: 'akira', library_id: other.id }), [])
    t.equal((await admin.post('/series/search', {})).status, 400)
    const paged = await allPages(admin, '/series/search?pageSize=1', {
      method: 'POST',
      body: { query: 'a' },
    })
    t.ok(paged.length >= 1)
  })

  await t.test('alphabetical groups count series by initial', async t => {
    const groups = async (body: unknown) =>
      (await admin.post('/series/list/alphabetical-groups', body)).body.data.map(
        (g: any) => `${g.group}${g.count}`,
      )
    const full = await groups({})
    t.equal(full[0], '21')
    t.ok(
      ['a1', 'b1', 'd1', 'e1'].every(group => full.includes(group)),
      full.join(' '),
    )
    t.same(await groups({ fullTextSearch: 'akira' }), ['a1'])
  })

  await t.test('hidden series are in no list', async t => {
    const reader = await all.createUser('reader')
    const book = (await shelf.books()).find(book => book.series === 'Akira')!
    await hideSeries(all.sql, reader.id, [idOf('Akira')])
    await all.sql`
      insert into progress (account_id, book_id, current_page) values (${reader.id}, ${book.id}, 1)`
    await all.sql`
      insert into series_reading (account_id, series_id, read_count, started_count, opened_count, last_read_at)
      values (${reader.id}, ${idOf('Akira')}, 0, 1, 1, now())`
    for (const base of ['/series', `/libraries/${shelf.id}/series`])
      for (const list of ['', '/in-progress', '/recently-added', '/recently-updated'])
        t.notMatch(JSON.stringify((await reader.get(base + list)).body), 'Akira', base + list)
    t.equal((await reader.get('/series')).body.total, 5)
    const found = await reader.post('/series/search', { query: 'akira' })
    t.same(found.body.data, [])
    t.equal((await reader.post('/series/list', {})).body.total, 5)
    t.notMatch((await reader.post('/series/list/alphabetical-groups', {})).body.data, [
      { group: 'a' },
    ])
    t.equal((await reader.get(`/series/${idOf('Akira')}`)).status, 404)
    t.equal((await reader.get(`/series/${idOf('Akira')}/books`)).status, 404)
  })
})

test('only administrators filter by sharing tags', async t => {
  const all = await startApi(t)
  const admin = await all.createUser('admin')
  const shelf = await createTestLibrary(t, all, {
    'Akira/1.cbz': comic(),
    'Berserk/1.cbz': comic(),
  })
  await shelf.scan()
  const { id } = (await admin.get('/series')).body.data[0]
  const tag = (await admin.post('/admin/sharing-tags', { name: 'grown-up' })).body
  await admin.post(`/series/${id}/sharing-tags`, { sharingTagId: tag.id })
  const filter = { condition: { sharingTag: { operator: 'is', value: 'grown-up' } } }
  t.equal((await admin.post('/series/list', filter)).body.total, 1)
  const wide = await all.createUser('maintainer', { permissions: ['UsersRead'] })
  for (const path of ['/series/list', '/series/list/alphabetical-groups']) {
    t.equal((await admin.post(path, filter)).status, 200)
    const { status, body } = await wide.post(path, filter)
    t.equal(status, 400)
    t.match(body.message, /condition.sharingTag is not a field/)
    t.notMatch(body.message, /fields are .*sharingTag/)
  }
})

test('books hidden by their own age rating are in no counter of their series', async t => {
  const all = await startApi(t)
  const admin = await all.createUser('admin')
  const shelf = await createTestLibrary(t, all, {
    'Akira/1.cbz': comic({ pages: 2 }),
    'Akira/2.cbz': comic({ pages: 3 }),
    'Akira/3.cbz': comic({ pages: 5 }),
  })
  await shelf.scan()
  const books = await shelf.books()
  const named = (name: string) => books.find(book => book.name === name)!.id
  const child = await all.createUser('reader')
  // Before the account is cached: cached rules are invalidated a moment later.
  await all.sql`update account set age_limit = 12 where id = ${child.id}`
  for (const name of ['2.cbz', '3.cbz']) await child.post(`/books/${named(name)}/read`)
  await admin.patch(`/books/${named('3.cbz')}/metadata`, { ageRating: 18 })
  const [series] = (await child.get('/series')).body.data
  t.match(series, { bookCount: 2, pageCount: 5, readCount: 1, unreadCount: 1 })
  const full = (await admin.get(`/series/${series.id}`)).body
  t.match(full, { bookCount: 3, pageCount: 10, readCount: 0, unreadCount: 3 })
  t.ok(series.fileSize < full.fileSize)
  t.equal((await child.get(`/series/${series.id}/context`)).body.bookCount, 2)
})
