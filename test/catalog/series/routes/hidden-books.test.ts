// Values that only age-restricted books have are not found through their series.
import t from 'tap'
import { enableKomga } from '../../../kit/komga.ts'
import { comic, createTestLibrary } from '../../../kit/library.ts'
import { startApi } from '../../../kit/server.ts'

const all = await startApi(t)
const shelf = await createTestLibrary(t, all, {
  'Shelf/1.cbz': comic(),
  'Shelf/2.cbz': comic(),
  'Other/1.cbz': comic(),
})
await shelf.scan()
const admin = await all.createUser('admin')
const child = await all.createUser('reader')
await all.sql`update account set age_limit = 12 where id = ${child.id}`
await enableKomga(admin)
const books = (await shelf.books()).filter(book => book.folder === 'Shelf')
const [visible, hidden] = books as [(typeof books)[0], (typeof books)[0]]
const rate = (ageRating: number | null) =>
  admin.patch(`/books/${hidden.id}/metadata`, {
    ageRating,
    authors: [{ name: 'Zzyzx Hidden', role: 'inker' }],
  })
await admin.patch(`/books/${visible.id}/metadata`, {
  authors: [{ name: 'Ann Visible', role: 'inker' }],
})
await rate(18)

const author = (operator: string, value: string) => ({ condition: { author: { operator, value } } })
const found = async (user: typeof admin, body: object) =>
  (await user.post('/series/list', body)).body.total
const fromKomga = (user: typeof admin, query: string) =>
  fetch(`${all.base}/komga/api/v1/series?${query}`, { headers: { 'x-api-key': user.key } })
const foundByKomga = async (user: typeof admin, query: string) =>
  ((await (await fromKomga(user, query)).json()) as { totalElements: number }).totalElements

t.test('authors of hidden books', async t => {
  t.equal((await child.get(`/books/${hidden.id}`)).status, 404)
  for (const [name, expected] of [
    ['Zzyzx Hidden', 0],
    ['Ann Visible', 1],
  ] as const) {
    const [word] = name.split(' ')
    for (const body of [
      author('is', name),
      author('beginsWith', word!.slice(0, 2)),
      author('contains', word!),
      { fullTextSearch: word },
    ]) {
      t.equal(await found(admin, body), 1, `an administrator: ${JSON.stringify(body)}`)
      t.equal(await found(child, body), expected, JSON.stringify(body))
    }
    for (const query of [`author=${name},inker`, `search=inker:${word}`, `search=${word}`]) {
      t.equal(await foundByKomga(admin, query), 1, `an administrator: ${query}`)
      t.equal(await foundByKomga(child, query), expected, query)
    }
  }
  await rate(6)
  t.equal(await found(child, author('is', 'Zzyzx Hidden')), 1, 'no longer hidden')
  t.equal(await found(child, { fullTextSearch: 'shelf zzyzx' }), 1)
  await rate(18)
  t.equal(await found(child, author('is', 'Zzyzx Hidden')), 0)
})

t.test('a series is read when all books that are not hidden are', async t => {
  const status = (value: string) => ({ condition: { readStatus: { operator: 'is', value } } })
  for (const user of [admin, child])
    await user.put(`/books/${visible.id}/progress`, { completed: true })
  t.equal(await found(child, status('read')), 1)
  t.equal(await found(child, status('in_progress')), 0)
  t.equal(await found(admin, status('read')), 0)
  t.equal(await found(admin, status('in_progress')), 1)
  t.equal(await foundByKomga(child, 'read_status=READ'), 1)
  await rate(6)
  t.equal(await found(child, status('read')), 0, 'another book is visible')
})

t.test('regular expressions that PostgreSQL refuses', async t => {
  for (const pattern of ['[z-a]', '[a-z-9]']) {
    const query = `search_regex=${encodeURIComponent(`${pattern},TITLE`)}`
    const { status } = await fromKomga(child, query)
    t.equal(status, 400, pattern)
  }
})
