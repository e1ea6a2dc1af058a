// Genres and tags over HTTP.
import t from 'tap'
import { newId } from '../../../../lib/base/id.ts'
import { comic, createTestLibrary } from '../../../kit/library.ts'
import { startApi } from '../../../kit/server.ts'

const info = (genres: string, tags = '') =>
  `<?xml version="1.0"?><ComicInfo><Genre>${genres}</Genre><Tags>${tags}</Tags></ComicInfo>`

const all = await startApi(t)
const { sql } = all
const admin = await all.createUser('admin')
const reader = await all.createUser('reader')
const shelf = await createTestLibrary(t, all, {
  'One/1.cbz': comic({ info: info('Sci-Fi, Action', 'robots') }),
  'One/2.cbz': comic({ info: info('sci-fi') }),
  'Two/1.cbz': comic({ info: info('SCI-FI, Romance', 'space') }),
  'Three/1.cbz': comic({ info: info('Tea') }),
})
await shelf.scan()
const idOf = async (name: string) => {
  const [row] = await sql<{ id: string }[]>`select id from series where name = ${name}`
  return row!.id
}
const one = `/series/${await idOf('One')}`
const two = `/series/${await idOf('Two')}`
const [firstBook] = (await shelf.books()).filter(book => book.folder === 'One')
const book = `/books/${firstBook!.id}`

const named = (labels: { name: string }[]) => labels.map(label => label.name)
const genresOf = async (at: string) => named((await reader.get(`${at}/genres`)).body.genres)
const genre = async (name: string) => {
  const { data } = (await reader.get('/genres')).body
  return data.find((label: { name: string }) => label.name === name)
}

t.test('genre names are case-insensitive', async t => {
  const { status, body, headers } = await reader.get('/genres?page_size=2')
  t.equal(status, 200)
  t.match(body, { total: 4, totalPages: 2, page: 1, pageSize: 2 })
  t.match(headers.get('link'), /rel="next"/)
  const second = await reader.get(body.links.next.replace('/api/v1', ''))
  const labels = [...body.data, ...second.body.data]
  t.same(
    labels.map(({ name, seriesCount }) => [name.toLowerCase(), seriesCount]),
    [
      ['action', 1],
      ['romance', 1],
      ['sci-fi', 2],
      ['tea', 1],
    ],
  )
  const past = (await reader.get('/genres?page=9')).body
  t.match(past, { data: [], total: 4 })
  t.same(named((await reader.get('/tags')).body.data), ['robots', 'space'])
})

t.test('labels keep their spelling and survive a deep scan', async t => {
  const { body } = await admin.put(`${two}/genres`, {
    genres: ['  ACTION ', 'new  One', 'New One'],
  })
  t.same(named(body.genres), ['ACTION', 'new One'])
  t.same(await genresOf(two), ['ACTION', 'new One'])
  await shelf.scan({ mode: 'deep' })
  t.same(await genresOf(two), ['ACTION', 'new One'])
  t.match((await reader.get(`${two}/metadata/locks`)).body, { genres: true, tags: false })
  t.equal((await genre('Action')).seriesCount, 2)
  t.equal((await genre('Romance')).seriesCount, 0, 'only a book has it now')
  const listed = await reader.get('/series?genres=new%20one')
  t.same(
    listed.body.data.map((s: { title: string }) => s.title),
    ['Two'],
  )
})

t.test('a label is added and removed', async t => {
  const added = await admin.post(`${one}/tags`, { name: 'Robots' })
  t.equal(added.status, 200)
  t.match(added.body, { name: 'robots' })
  const fresh = (await admin.post(`${one}/tags`, { name: 'tea' })).body
  t.same(named((await reader.get(`${one}/tags`)).body.tags), ['robots', 'tea'])
  t.equal((await admin.delete(`${one}/tags/${fresh.id}`)).status, 204)
  t.equal((await admin.delete(`${one}/tags/${fresh.id}`)).status, 404)
  t.equal((await admin.delete(`${one}/tags/${newId()}`)).status, 404)
  t.same(named((await reader.get(`${one}/tags`)).body.tags), ['robots'])
  const tea = (await reader.get('/genres')).body.data.find(
    (label: { name: string }) => label.name === 'Tea',
  )
  t.equal((await admin.delete(`${one}/tags/${tea.id}`)).status, 404, 'a genre is not a tag')
})

t.test('genres of a book are those of its series', async t => {
  await admin.put(`${book}/genres`, { genres: ['Western'] })
  t.same(await genresOf(book), ['Western'])
  const lower = (await genresOf(one)).map(name => name.toLowerCase())
  t.same(lower, ['sci-fi', 'western'])
  t.match((await reader.get(book)).body.metadata, { genre: 'Western', locks: { genreLock: true } })
  await shelf.scan({ mode: 'deep' })
  t.same(await genresOf(book), ['Western'])
})

t.test('search uses the current tags of a book', async t => {
  const found = async (fullTextSearch: string) =>
    (await reader.post('/books/list', { fullTextSearch })).body.data.map(
      (one: { id: string }) => one.id,
    )
  const tags = `${book}/tags`
  t.equal((await found('robots')).length, 1)
  await admin.put(tags, { tags: ['Clockwork'] })
  t.same(await found('robots'), [])
  t.same(await found('clockwork'), [firstBook!.id])
  await admin.post(tags, { name: 'Steam' })
  t.same(await found('steam'), [firstBook!.id])
  const { data } = (await reader.get('/tags')).body
  const idOf = (name: string) =>
    data.find((label: { name: string }) => label.name === name).id as string
  await admin.delete(`${tags}/${idOf('Steam')}`)
  t.same(await found('steam'), [])
  await admin.delete(`/tags/${idOf('Clockwork')}`)
  t.same(await found('clockwork'), [], 'also after the tag was deleted')
})

t.test('invalid names are rejected', async t => {
  for (const invalid of [
    { genres: [' '] },
    { genres: ['\u0301'] },
    { genres: ['a\u0000'] },
    { genres: ['x'.repeat(201)] },
    { genres: Array.from({ length: 501 }, (_, i) => `g${i}`) },
    { genres: 'a' },
    {},
  ])
    t.equal((await admin.put(`${one}/genres`, invalid)).status, 400)
  t.equal((await admin.post(`${one}/genres`, { name: '' })).status, 400)
})

t.test('labels of hidden series are not listed', async t => {
  const tag = await admin.post('/admin/sharing-tags', { name: 'secret' })
  await admin.post(`/series/${await idOf('Three')}/sharing-tags`, { sharingTagId: tag.body.id })
  const child = await all.createUser('maintainer')
  await sql`
    insert into account_sharing_tag (id, account_id, tag_id, mode)
    values (${newId()}, ${child.id}, ${tag.body.id}, 'deny')`
  const { data, total } = (await child.get('/genres')).body
  t.equal(total, data.length)
  t.notOk(named(data).includes('Tea'))
  const three = `/series/${await idOf('Three')}`
  t.equal((await child.get(`${three}/genres`)).status, 404)
  t.equal((await child.put(`${three}/genres`, { genres: ['a'] })).status, 404)
  t.equal((await child.post(`${three}/genres`, { name: 'a' })).status, 404)
})

t.test('a deleted genre does not come back', async t => {
  const { id } = await genre('Tea')
  t.equal((await reader.delete(`/genres/${id}`)).status, 403)
  t.equal((await admin.delete(`/genres/${id}`)).status, 204)
  t.equal((await admin.delete(`/genres/${id}`)).status, 404)
  const three = `/series/${await idOf('Three')}`
  t.same(await genresOf(three), [])
  await shelf.scan({ mode: 'deep' })
  t.same(await genresOf(three), [])
  t.notOk(await genre('Tea'))
})

t.test('unused labels are deleted', async t => {
  await admin.post(`${one}/genres`, { name: 'Passing' })
  const { id } = await genre('Passing')
  await admin.delete(`${one}/genres/${id}`)
  const { body } = await admin.post('/genres/cleanup')
  t.match(body, { deletedNames: ['Passing'], deletedCount: 1 })
  t.same((await admin.post('/genres/cleanup')).body, { deletedCount: 0, deletedNames: [] })
  t.equal((await reader.post('/tags/cleanup')).status, 403)
})

t.test(
  'labels of a record are sorted, and of several spellings in a file the first one is shown',
  async t => {
    const other = await createTestLibrary(t, all, {
      'Four/1.cbz': comic({ info: info('Zen, sci-FI, Action, SCI-fi') }),
    })
    await other.scan()
    const { id } = (await other.books())[0]!
    const { body } = await reader.get(`/books/${id}/full`)
    t.same(named(body.genres), ['Action', 'sci-FI', 'Zen'])
    t.same(named(body.metadata.genres), ['Action', 'sci-FI', 'Zen'])
  },
)
