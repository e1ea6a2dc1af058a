// Metadata of series over HTTP.
import t from 'tap'
import { newId } from '../../../../lib/base/id.ts'
import { comic, createTestLibrary } from '../../../kit/library.ts'
import { startApi } from '../../../kit/server.ts'

const info = (series: string) =>
  `<?xml version="1.0"?><ComicInfo><Series>${series}</Series><Publisher>Kodansha</Publisher><Genre>Action</Genre></ComicInfo>`

const all = await startApi(t)
const admin = await all.createUser('admin')
const reader = await all.createUser('reader')

const names = Array.from({ length: 10 }, (_, i) => `Akira ${i + 1}`)
const shelf = await createTestLibrary(
  t,
  all,
  Object.fromEntries(
    names.flatMap(name =>
      ['1.cbz', '2.cbz'].map(file => [`${name}/${file}`, comic({ info: info(name) })]),
    ),
  ),
)
await shelf.scan()
const ids = new Map((await shelf.books()).map(book => [book.series, book.seriesId]))

/** A series of two books for one test. */
function series() {
  const name = names.pop()!
  const id = ids.get(name)!
  /** Analyzes all its files again. */
  const reread = () => shelf.scan({ mode: 'deep', paths: [name] })
  return { id, name, at: `/series/${id}`, reread }
}

t.test('user edits are returned, locked, and survive a deep scan', async t => {
  const { at, reread } = series()
  const { status, body } = await admin.patch(`${at}/metadata`, {
    title: '  Akira, the works ',
    titleSort: 'Works of Akira',
    publisher: 'Dark Horse',
    status: 'Ended',
    language: 'JA_jp',
    reading_direction: 'RTL',
    age_rating: 16,
    year: 1982,
    totalVolumeCount: 6,
    totalChapterCount: 120.5,
    authors: [{ name: 'Katsuhiro Otomo', role: 'Writer' }, { name: 'Jane Doe' }],
    alternateTitles: [{ label: 'ja', title: 'アキラ' }],
    customMetadata: { snake_case: 1, camelCase: { deep_er: [1] } },
  })
  t.equal(status, 200)
  const expected = {
    title: 'Akira, the works',
    titleSort: 'Works of Akira',
    publisher: 'Dark Horse',
    status: 'ended',
    language: 'ja-JP',
    readingDirection: 'rtl',
    ageRating: 16,
    year: 1982,
    totalVolumeCount: 6,
    totalChapterCount: 120.5,
    authors: [
      { name: 'Katsuhiro Otomo', role: 'writer', sortName: null },
      { name: 'Jane Doe', role: null, sortName: null },
    ],
    alternateTitles: [{ label: 'ja', title: 'アキラ' }],
    customMetadata: { snake_case: 1, camelCase: { deep_er: [1] } },
  }
  t.match(body, expected)
  t.match(body.locks, {
    title: true,
    titleSort: true,
    status: true,
    authorsJsonLock: true,
    summary: false,
    genres: false,
  })
  await reread()
  t.match((await admin.get(`${at}/metadata`)).body, expected)
  t.match((await reader.get(at)).body, { title: 'Akira, the works', titleSort: 'Works of Akira' })
  const found = await reader.post('/series/search', { query: 'アキラ' })
  t.same(
    found.body.data.map((s: { title: string }) => s.title),
    ['Akira, the works'],
  )
})

t.test('PATCH leaves absent fields unchanged and clears null fields', async t => {
  const { at } = series()
  await admin.patch(`${at}/metadata`, { summary: 'One.', imprint: 'Young', year: 1984 })
  const { body } = await admin.patch(`${at}/metadata`, { summary: null, status: null, title: null })
  t.match(body, { summary: null, imprint: 'Young', year: 1984, status: 'unknown' })
  t.match(body.locks, { summary: true, status: true, title: false, publisher: false })
  t.match(body.title, /^Akira/)
})

t.test('custom metadata is merged by PATCH, replaced by PUT, and limited in size', async t => {
  const { at } = series()
  const patch = async (customMetadata: unknown) =>
    (await admin.patch(`${at}/metadata`, { customMetadata })).body.customMetadata
  t.same(await patch({ a: 1, b: { c: 2, d: 3 } }), { a: 1, b: { c: 2, d: 3 } })
  t.same(await patch({ a: null, b: { c: null, e: [1] } }), { b: { d: 3, e: [1] } })
  const put = await admin.put(`${at}/metadata`, { customMetadata: { z: 0 } })
  t.same(put.body.customMetadata, { z: 0 })
  const half = 'x'.repeat(40_000)
  t.same(Object.keys(await patch({ half })), ['z', 'half'])
  t.equal((await admin.patch(`${at}/metadata`, { customMetadata: { other: half } })).status, 400)
  t.equal((await admin.patch(`${at}/metadata`, { customMetadata: [1] })).status, 400)
})

t.test('custom metadata is stored and returned as it was written', async t => {
  const { at, id } = series()
  const written =
    '{"z":12345678901234567890,"10":1.0,"2":1e2,"long name":{"b":-0,"a":"\\u00e9\\/\\ud83d\\ude00 "},"\\u0061":[]}'
  const send = async (method: string, path: string, customMetadata: string) => {
    const raw = `{ "year" : 2001, "customMetadata" : ${customMetadata} }`
    const headers = { 'content-type': 'application/json' }
    return (await admin.request(method, path, { raw, headers })).status
  }
  const read = async (path: string) => (await admin.get(path)).bytes.toString()
  const spaced = `\n ${written.replaceAll(',"', ' ,\t"')} `
  t.equal(await send('PUT', `${at}/metadata`, spaced), 200)
  t.ok((await read(`${at}/metadata`)).includes(`"customMetadata":${written},`))
  t.ok((await read('/series/full?pageSize=100')).includes(`"customMetadata":${written},`))
  const book = (await shelf.books()).find(({ seriesId }) => seriesId === id)!
  const bookPath = `/books/${book.id}/metadata`
  t.equal(await send('PUT', bookPath, spaced), 200)
  t.ok((await read(bookPath)).includes(`"customMetadata":${written},`), 'also of books')
  const patch = '{"10":null,"long name":{"b":{"x":null,"y":9007199254740993}},"new":0.10}'
  const merged =
    '{"z":12345678901234567890,"2":1e2,"long name":{"b":{"y":9007199254740993},"a":"\\u00e9\\/\\ud83d\\ude00 "},"\\u0061":[],"new":0.10}'
  for (const path of [`${at}/metadata`, bookPath]) {
    t.equal(await send('PATCH', path, patch), 200)
    t.ok((await read(path)).includes(`"customMetadata":${merged},`), `${path} merged`)
  }
  await admin.patch(`${at}/metadata`, { summary: 'Other' })
  t.ok((await read(`${at}/metadata`)).includes(merged), 'other edits leave it')
  const [row] = await all.sql`select custom_metadata from series where id = ${id}`
  t.equal(row!.custom_metadata, merged)
})

t.test('PUT clears absent fields except title and alternate titles', async t => {
  const { at, name, reread } = series()
  await admin.patch(`${at}/metadata`, {
    year: 1984,
    alternateTitles: [{ label: 'en', title: 'Other' }],
  })
  const { body } = await admin.put(`${at}/metadata`, { summary: 'All of it.' })
  const expected = {
    title: name,
    summary: 'All of it.',
    year: null,
    publisher: null,
    authors: [],
    alternateTitles: [{ label: 'en', title: 'Other' }],
  }
  t.match(body, expected)
  await reread()
  t.match((await admin.get(`${at}/metadata`)).body, expected, 'the publisher stays empty')
})

t.test('PATCH of the title', async t => {
  const { at, reread } = series()
  const { status, body } = await admin.patch(at, { title: 'Émile' })
  t.equal(status, 200)
  t.same(Object.keys(body).sort(), ['id', 'title', 'updatedAt'])
  const found = async () =>
    (await reader.post('/books/list', { fullTextSearch: 'emile' })).body.total
  t.equal(await found(), 2, 'search finds its books by the title')
  await reread()
  t.equal((await reader.get(at)).body.title, 'Émile')
  t.equal(await found(), 2, 'also after a scan')
  t.equal((await admin.patch(at, { title: '  ' })).status, 400)
  t.equal((await admin.patch(at, { title: null })).body.title, 'Émile')
})

t.test('numbers are accepted up to their limits', async t => {
  const { at } = series()
  const lowest = { ageRating: 0, year: -9999, totalVolumeCount: 0, totalChapterCount: 0 }
  const highest = {
    ...{ ageRating: 100, year: 9999 },
    ...{ totalVolumeCount: 1_000_000, totalChapterCount: 1_000_000 },
  }
  for (const [limits, step] of [
    [lowest, -1],
    [highest, 1],
  ] as const) {
    t.match((await admin.patch(`${at}/metadata`, limits)).body, limits)
    for (const [name, limit] of Object.entries(limits)) {
      const { status } = await admin.patch(`${at}/metadata`, { [name]: limit + step })
      t.equal(status, 400, name)
    }
  }
})

t.test('invalid values are rejected without changes', async t => {
  const { at } = series()
  const before = (await admin.get(`${at}/metadata`)).body
  for (const invalid of [
    { status: 'sleeping' },
    { language: 'Klingonese' },
    { readingDirection: 'up' },
    { ageRating: 1.5 },
    { title: '' },
    { title: 'x'.repeat(1001) },
    { summary: 'a\u0000b' },
    { summary: 'a\ud800b' },
    { authors: [{ name: 'A', role: 'cook' }] },
    { authors: [{ role: 'writer' }] },
    { authors: [{ name: ' ' }] },
    { alternateTitles: [{ label: 'a' }] },
    { customMetadata: { '\ud800': 1 } },
    { colour: 'red' },
    [],
  ]) {
    const { status, body } = await admin.patch(`${at}/metadata`, invalid)
    t.equal(status, 400, JSON.stringify(invalid))
    t.type(body.message, 'string')
  }
  const deep = `{"customMetadata":${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}}`
  const nested = await admin.request('PATCH', `${at}/metadata`, {
    raw: deep,
    headers: { 'content-type': 'application/json' },
  })
  t.equal(nested.status, 400)
  t.same((await admin.get(`${at}/metadata`)).body, before)
})

t.test('unlocked fields follow the files again', async t => {
  const { at, reread } = series()
  await admin.patch(`${at}/metadata`, { publisher: 'Mine' })
  const { body } = await admin.put(`${at}/metadata/locks`, { year: true, title_lock: true })
  t.match(body, { year: true, title: true, publisher: true, summary: false })
  t.same((await reader.get(`${at}/metadata/locks`)).body, body)
  t.equal((await admin.put(`${at}/metadata/locks`, { nothing: true })).status, 400)
  await admin.put(`${at}/metadata/locks`, { publisher: false })
  await reread()
  t.equal((await reader.get(at)).body.publisher, 'Kodansha')
})

t.test('hidden and unknown series are 404 for every method', async t => {
  const { at, id } = series()
  const tag = await admin.post('/admin/sharing-tags', { name: `hide ${id}` })
  await admin.post(`${at}/sharing-tags`, { sharingTagId: tag.body.id })
  const keeper = await all.createUser('maintainer')
  await all.sql`
    insert into account_sharing_tag (id, account_id, tag_id, mode)
    values (${newId()}, ${keeper.id}, ${tag.body.id}, 'deny')`
  for (const hidden of [at, `/series/${newId()}`]) {
    for (const [method, path, body] of [
      ['PATCH', '', { title: 'Seen' }],
      ['GET', '/metadata'],
      ['PUT', '/metadata', {}],
      ['PATCH', '/metadata', { year: 1 }],
      ['DELETE', '/metadata'],
      ['GET', '/metadata/locks'],
      ['PUT', '/metadata/locks', { year: true }],
      ['GET', '/context'],
    ] as const) {
      const { status } = await keeper.request(method, hidden + path, { body })
      t.equal(status, 404, `${method} ${path}`)
    }
  }
  t.equal((await reader.patch(at, { title: 'Mine' })).status, 403)
  t.equal((await all.anonymous.get(`${at}/metadata`)).status, 401)
})
