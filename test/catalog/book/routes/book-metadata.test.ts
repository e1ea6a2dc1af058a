// Metadata of books over HTTP.
import t from 'tap'
import { newId } from '../../../../lib/base/id.ts'
import { comic, createTestLibrary } from '../../../kit/library.ts'
import { startApi } from '../../../kit/server.ts'

const info = `<?xml version="1.0"?><ComicInfo>
  <Title>File title</Title><Number>3</Number><Summary>From the file.</Summary><Publisher>Kodansha</Publisher>
  <Writer>Ana Author, Ben Author</Writer><Penciller>Pia Pencil</Penciller>
  <Genre>Action, Drama</Genre><Tags>robots</Tags><Characters>Kaneda</Characters>
  <Manga>Yes</Manga><BlackAndWhite>Yes</BlackAndWhite><Format>Trade</Format>
  <Year>1984</Year><Month>12</Month><Day>6</Day><Count>6</Count></ComicInfo>`

const all = await startApi(t)
const admin = await all.createUser('admin')
const reader = await all.createUser('reader')

const names = Array.from({ length: 11 }, (_, i) => `Akira ${i + 1}`)
const shelf = await createTestLibrary(
  t,
  all,
  Object.fromEntries(names.map(name => [`${name}/file.cbz`, comic({ info })])),
)
await shelf.scan()
const ids = new Map((await shelf.books()).map(book => [book.folder, book.id]))

/** A book for one test. */
function book() {
  const name = names.pop()!
  const id = ids.get(name)!
  /** Analyzes its file again. */
  const reread = () => shelf.scan({ mode: 'deep', paths: [name] })
  return { id, name, at: `/books/${id}`, reread }
}

t.test('metadata of the file is returned in all representations', async t => {
  const { at, id } = book()
  const { status, body } = await reader.get(`${at}/metadata`)
  t.equal(status, 200)
  t.match(body, {
    id,
    bookId: id,
    title: 'File title',
    number: '3',
    summary: 'From the file.',
    genre: 'Action, Drama',
    genres: [{ name: 'Action' }, { name: 'Drama' }],
    tags: [{ name: 'robots' }],
    releaseDate: '1984-12-06',
    writers: ['Ana Author', 'Ben Author'],
    writer: 'Ana Author, Ben Author',
    pencillers: ['Pia Pencil'],
    editor: null,
    editors: [],
    characters: ['Kaneda'],
    manga: true,
    blackAndWhite: true,
    formatDetail: 'Trade',
    count: 6,
    bookType: null,
    isbns: null,
    customMetadata: null,
  })
  t.equal(Object.values(body.locks).includes(true), false)
})

t.test('user edits are returned, locked, and survive a deep scan', async t => {
  const { at, name, reread } = book()
  const { status, body } = await admin.patch(`${at}/metadata`, {
    title: 'My title',
    title_sort: 'Aaa',
    number: '12.5',
    summary: null,
    language_iso: 'FR',
    isbns: '978-3-16-148410-0; 0306406152',
    black_and_white: false,
    formatDetail: null,
    bookType: 'Graphic Novel',
    subtitle: 'A tale',
    original_year: 1982,
    subjects: ['tea', ' tea ', ''],
    awards: [{ name: 'Eisner', year: 2002, won: true }, { name: 'Harvey' }],
    genre: 'action, Comedy',
    writer: 'Zoe Zero, Ana Author',
    translator: 'Tom Two',
    customMetadata: { snake_case: { camelCase: 1 } },
    reading_direction: 'RTL',
  })
  t.equal(status, 200)
  const expected = {
    title: 'My title',
    titleSort: 'Aaa',
    number: '12.5',
    summary: null,
    publisher: 'Kodansha',
    languageIso: 'fr',
    isbns: '9783161484100, 9780306406157',
    blackAndWhite: false,
    formatDetail: null,
    bookType: 'graphic_novel',
    subtitle: 'A tale',
    originalYear: 1982,
    subjects: ['tea'],
    awards: [
      { name: 'Eisner', year: 2002, category: null, won: true },
      { name: 'Harvey', year: null, category: null, won: false },
    ],
    genre: 'action, Comedy',
    writers: ['Zoe Zero', 'Ana Author'],
    pencillers: ['Pia Pencil'],
    translator: 'Tom Two',
    customMetadata: { snake_case: { camelCase: 1 } },
    readingDirection: 'rtl',
    manga: true,
    count: 6,
    characters: ['Kaneda'],
  }
  t.match(body, expected)
  t.match(body.locks, {
    titleLock: true,
    numberLock: true,
    blackAndWhiteLock: true,
    formatDetailLock: true,
    writerLock: true,
    translatorLock: true,
    pencillerLock: false,
    authorsJsonLock: false,
    mangaLock: false,
    publisherLock: false,
    genreLock: true,
    tagsLock: false,
  })
  await reread()
  const after = await reader.get(`${at}/metadata`)
  t.match(after.body, expected)
  t.same(after.body.locks, body.locks)
  const [first] = (await reader.get('/books?sort=title,asc&pageSize=1')).body.data
  t.match(first, { title: 'My title', number: 12.5 }, 'sorted by the user value')
  const found = await reader.post('/books/list', { fullTextSearch: 'zoe zero' })
  t.same(
    found.body.data.map((b: { seriesName: string }) => b.seriesName),
    [name],
  )
})

t.test('PATCH of title and number', async t => {
  const { at, reread } = book()
  const { body } = await admin.patch(at, { title: 'Half', number: 1.5 })
  t.match(body, { title: 'Half', number: 1.5 })
  t.same(Object.keys(body).sort(), ['id', 'number', 'title', 'updatedAt'])
  await reread()
  t.match((await reader.get(at)).body, { book: { title: 'Half', number: 1.5, numberText: '1.5' } })
  const cleared = await admin.patch(at, { number: null, title: null })
  t.match(cleared.body, { title: 'Half', number: null })
  t.equal((await admin.patch(at, { title: '' })).status, 400)
  t.equal((await admin.patch(at, { number: true })).status, 400)
  t.equal((await admin.patch(at, { number: 'Annual 2' })).body.number, 2)
})

t.test('PUT clears absent fields except those that identify the book', async t => {
  const { at, reread } = book()
  await admin.patch(`${at}/metadata`, { ageRating: 12, customMetadata: { a: 1 } })
  const { body } = await admin.put(`${at}/metadata`, {
    summary: 'Mine.',
    authors: [{ name: 'Only One', role: 'Co-Author', sortName: 'One, Only' }],
    editor: 'Ed Itor',
  })
  const expected = {
    title: 'File title',
    number: '3',
    ageRating: 12,
    summary: 'Mine.',
    publisher: null,
    year: null,
    genre: null,
    genres: [],
    manga: null,
    formatDetail: null,
    customMetadata: null,
    authors: [
      { name: 'Only One', role: 'co_author', sortName: 'One, Only' },
      { name: 'Ed Itor', role: 'editor', sortName: null },
    ],
    tags: [{ name: 'robots' }],
    characters: ['Kaneda'],
  }
  t.match(body, expected)
  await reread()
  t.match((await reader.get(`${at}/metadata`)).body, expected)
})

t.test('numbers are accepted up to their limits', async t => {
  const { at } = book()
  const lowest = {
    ...{ year: -9999, originalYear: -9999, month: 1, day: 1, count: 0, seriesTotal: 0 },
    ...{ ageRating: 0, volume: -1_000_000, chapter: -1_000_000, seriesPosition: -1_000_000 },
  }
  const highest = {
    ...{ year: 9999, originalYear: 9999, month: 12, day: 31, count: 1_000_000 },
    ...{ seriesTotal: 1_000_000, ageRating: 100, volume: 1_000_000, chapter: 1_000_000 },
    seriesPosition: 1_000_000,
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
  const { at } = book()
  const before = (await admin.get(`${at}/metadata`)).body
  for (const invalid of [
    { isbns: '978-3-16-148410-1' },
    { languageIso: 'not a language' },
    { bookType: 'leaflet' },
    { readingDirection: 'up' },
    { manga: 'yes' },
    { awards: [{ year: 1 }] },
    { subjects: ['\u0000'] },
    { authors: [{ name: 'A', role: 'cook' }] },
    { unknown: 1 },
    'text',
  ]) {
    const { status } = await admin.patch(`${at}/metadata`, invalid)
    t.equal(status, 400, JSON.stringify(invalid))
  }
  t.same((await admin.get(`${at}/metadata`)).body, before)
})

t.test('locked fields are not changed by scans, unlocked ones are', async t => {
  const { at, name, reread } = book()
  const locked = await admin.put(`${at}/metadata/locks`, {
    publisher_lock: true,
    mangaLock: true,
    pencillerLock: true,
  })
  t.match(locked.body, { publisherLock: true, mangaLock: true, writerLock: false })
  t.equal(Object.keys(locked.body).length, 42)
  const other = info
    .replace('Kodansha', 'Other')
    .replace('<Manga>Yes', '<Manga>No')
    .replace('Pia Pencil', 'Pam')
    .replace('Ana Author, ', '')
    .replace('>Trade<', '>Digital<')
  shelf.write(`${name}/file.cbz`, comic({ info: other }))
  await reread()
  const fromFile = { publisher: 'Kodansha', manga: true, penciller: 'Pia Pencil' }
  const rescanned = { publisher: 'Other', manga: false, penciller: 'Pam' }
  t.match((await reader.get(`${at}/metadata`)).body, { ...fromFile, formatDetail: 'Digital' })
  const flags = { publisherLock: false, mangaLock: false, pencillerLock: false }
  await admin.put(`${at}/metadata/locks`, flags)
  await reread()
  t.match((await reader.get(`${at}/metadata`)).body, rescanned)
})

t.test('the context of a book contains that of its series', async t => {
  const { at, id, name } = book()
  await admin.patch(`${at}/metadata`, { customMetadata: { my_key: 1 } })
  await admin.post(`${at}/external-ids`, { source: 'x', externalId: '1', metadataHash: 'abc' })
  const { body } = await reader.get(`${at}/context`)
  t.match(body, {
    type: 'book',
    bookId: id,
    libraryId: shelf.id,
    fileFormat: 'cbz',
    pageCount: 2,
    customMetadata: { my_key: 1 },
    externalIds: { x: { id: '1', url: null, hash: 'abc' } },
    metadata: { title: 'File title', genres: ['Action', 'Drama'], tags: ['robots'] },
    series: { type: 'series', bookCount: 1, metadata: { title: name } },
  })
})

t.test('book details in short and long form', async t => {
  const { at, id } = book()
  t.match((await reader.get(at)).body, { book: { id }, metadata: { bookId: id, manga: true } })
  t.match((await reader.get(`${at}/full`)).body, {
    id,
    title: 'File title',
    metadata: { writers: ['Ana Author', 'Ben Author'] },
    genres: [{ name: 'Action' }, { name: 'Drama' }],
    readCount: 0,
    lastCompletedAt: null,
  })
})

t.test('hidden and unknown books are 404 for every method', async t => {
  const { at } = book()
  await admin.patch(`${at}/metadata`, { ageRating: 18 })
  const keeper = await all.createUser('maintainer')
  await all.sql`update account set age_limit = 12 where id = ${keeper.id}`
  for (const hidden of [at, `/books/${newId()}`]) {
    for (const [method, path, body] of [
      ['PATCH', '', { title: 'Seen' }],
      ['GET', '/metadata'],
      ['PUT', '/metadata', {}],
      ['PATCH', '/metadata', { year: 1 }],
      ['DELETE', '/metadata'],
      ['GET', '/metadata/locks'],
      ['PUT', '/metadata/locks', { yearLock: true }],
      ['GET', '/context'],
    ] as const) {
      const { status } = await keeper.request(method, hidden + path, { body })
      t.equal(status, 404, `${method} ${path}`)
    }
  }
  t.equal((await reader.patch(at, { title: 'Mine' })).status, 403)
  t.equal((await all.anonymous.get(`${at}/metadata`)).status, 401)
})
