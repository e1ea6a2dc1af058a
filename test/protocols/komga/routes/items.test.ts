// Books, series and lists of the Komga-compatible API, one by one: shapes, reading, posters, metadata.
import t from 'tap'
import { newId } from '../../../../lib/base/id.ts'
import { hideSeries } from '../../../kit/accounts.ts'
import { png } from '../../../kit/files/archives.ts'
import { pdfOf, stream } from '../../../kit/files/pdf.ts'
import { enableKomga } from '../../../kit/komga.ts'
import { differences } from '../../../kit/komga-schemas.ts'
import { comic, createTestLibrary } from '../../../kit/library.ts'
import { richEpub } from '../../../kit/opds/epub.ts'
import { startApi } from '../../../kit/server.ts'

const all = await startApi(t)
const admin = await all.createUser('admin')
const reader = await all.createUser('reader')
await enableKomga(admin)
const shelf = await createTestLibrary(t, all, {
  'Akira/1.cbz': comic({ pages: 4 }),
  'Akira/1.5.cbz': comic({ pages: 3 }),
  'Akira/2.cbz': comic({ pages: 3 }),
  'Hidden/1.cbz': comic(),
  'Novel/rich.epub': richEpub(),
  'Paper/paper.pdf': pdfOf([
    '<</Type/Catalog/Pages 2 0 R>>',
    '<</Type/Pages/Count 2/Kids[3 0 R 4 0 R]/MediaBox[0 0 200 300]>>',
    ...Array<string>(2).fill('<</Type/Page/Parent 2 0 R/Contents 5 0 R>>'),
    stream('', '9 9 9 9 re f'),
  ]),
  'Bone/broken.cbz': Buffer.from('PK not an archive'),
})
await shelf.scan()
const books = Object.fromEntries(
  (await shelf.books()).map(book => [`${book.folder}/${book.name}`, book]),
)
const [one, half, two] = ['1', '1.5', '2'].map(name => books[`Akira/${name}.cbz`]!) as [
  any,
  any,
  any,
]
const series = one.seriesId
const hidden = books['Hidden/1.cbz']!
const epub = books['Novel/rich.epub']!
const paper = books['Paper/paper.pdf']!
const broken = books['Bone/broken.cbz']!
await hideSeries(all.sql, reader.id, [hidden.seriesId])

async function call(
  key: string,
  method: string,
  path: string,
  { body, headers = {}, raw }: any = {},
) {
  const response = await fetch(`${all.base}/komga/api${path}`, {
    method,
    headers: {
      'x-api-key': key,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? (raw ? { body: raw } : {}) : { body: JSON.stringify(body) }),
  })
  const bytes = Buffer.from(await response.arrayBuffer())
  const type = response.headers.get('content-type') ?? ''
  const json = type.includes('json') && bytes.length > 0 ? JSON.parse(bytes.toString()) : null
  return { status: response.status, headers: response.headers, type, bytes, json }
}
const asAdmin = (method: string, path: string, options = {}) =>
  call(admin.key, method, path, options)
const asReader = (method: string, path: string, options = {}) =>
  call(reader.key, method, path, options)

t.test('answers have the shapes of the document', async t => {
  const read: [path: string, schema: string][] = [
    [`/v1/books/${one.id}`, 'BookDto'],
    [`/v1/books/${broken.id}`, 'BookDto'],
    [`/v1/books/${one.id}/next`, 'BookDto'],
    [`/v1/books/${two.id}/previous`, 'BookDto'],
    [`/v1/books/${one.id}/readlists`, 'ReadListDto[]'],
    [`/v1/books/${one.id}/pages`, 'PageDto[]'],
    [`/v1/books/${paper.id}/pages`, 'PageDto[]'],
    [`/v1/books/${one.id}/thumbnails`, 'ThumbnailBookDto[]'],
    [`/v1/books/${one.id}/manifest`, 'WPPublicationDto'],
    [`/v1/books/${one.id}/manifest/divina`, 'WPPublicationDto'],
    [`/v1/books/${epub.id}/manifest`, 'WPPublicationDto'],
    [`/v1/books/${epub.id}/manifest/epub`, 'WPPublicationDto'],
    [`/v1/books/${paper.id}/manifest/pdf`, 'WPPublicationDto'],
    [`/v1/books/${paper.id}/manifest/divina`, 'WPPublicationDto'],
    [`/v1/books/${epub.id}/positions`, 'R2Positions'],
    [`/v1/series/${series}`, 'SeriesDto'],
    [`/v1/series/${series}/collections`, 'CollectionDto[]'],
    [`/v1/series/${series}/thumbnails`, 'ThumbnailSeriesDto[]'],
    [`/v2/series/${series}/read-progress/tachiyomi`, 'TachiyomiReadProgressV2Dto'],
  ]
  for (const [path, schema] of read)
    for (const as of [asAdmin, asReader]) {
      const { status, json } = await as('GET', path)
      t.equal(status, 200, path)
      t.same(differences(schema, json), [], path)
    }
  for (const path of ['/v1/page-hashes', '/v1/page-hashes/unknown', '/v1/page-hashes/abc'])
    t.match((await asAdmin('GET', path)).json, { content: [], totalElements: 0, last: true }, path)
  const missing: [number, string][] = [
    [404, `/v1/books/${newId()}`],
    [404, `/v1/books/${two.id}/next`],
    [404, `/v1/books/${one.id}/previous`],
    [404, `/v1/books/${broken.id}/pages`],
    [404, `/v1/books/${one.id}/positions`],
    [400, `/v1/books/${one.id}/manifest/epub`],
    [404, `/v1/page-hashes/abc/thumbnail`],
  ]
  for (const [status, path] of missing) t.equal((await asAdmin('GET', path)).status, status, path)
})

t.test('hidden books and series do not exist', async t => {
  const book = `/v1/books/${hidden.id}`
  const paths = [
    '',
    '/next',
    '/readlists',
    '/pages',
    '/pages/1',
    '/pages/1/thumbnail',
    '/thumbnail',
  ]
  const more = ['/thumbnails', '/file', '/manifest', '/progression', `/thumbnails/${hidden.id}`]
  const ofSeries = ['', '/thumbnail', '/thumbnails', '/collections', '/file']
  for (const path of [
    ...[...paths, ...more].map(rest => book + rest),
    ...ofSeries.map(rest => `/v1/series/${hidden.seriesId}${rest}`),
    `/v2/series/${hidden.seriesId}/read-progress/tachiyomi`,
  ])
    t.equal((await asReader('GET', path)).status, 404, path)
  const page = { body: { page: 1 } }
  t.equal((await asReader('PATCH', `${book}/read-progress`, page)).status, 404)
  t.equal((await asReader('POST', `/v1/series/${hidden.seriesId}/read-progress`)).status, 404)
})

t.test('page images', async t => {
  const page = (path: string, headers = {}) =>
    asReader('GET', `/v1/books/${one.id}/pages/${path}`, { headers })
  const types: [string, string, object?][] = [
    ['1', 'image/png'],
    ['0?zero_based=true', 'image/png'],
    ['1?convert=jpeg', 'image/jpeg'],
    ['1?convert=png', 'image/png'],
    ['1', 'image/png', { accept: 'image/*,*/*;q=0.8' }],
    ['1', 'image/jpeg', { accept: 'image/jpeg' }],
    ['1', 'image/png', { accept: 'image/webp,image/png' }],
    ['1?contentNegotiation=false', 'image/png', { accept: 'image/jpeg' }],
    ['1/raw', 'image/png'],
    ['1/thumbnail', 'image/jpeg'],
  ]
  for (const [path, type, headers] of types) {
    const { status, type: sent } = await page(path, headers)
    t.same([status, sent], [200, type], `${path} ${JSON.stringify(headers)}`)
  }
  for (const path of ['0', '5', '4?zero_based=true', '1?convert=gif'])
    t.equal((await page(path)).status, 400, path)
  const first = await page('1')
  t.equal(first.headers.get('cache-control'), 'max-age=0, must-revalidate, private')
  const since = first.headers.get('last-modified')
  const again = await page('1', { 'if-modified-since': since })
  t.same([again.status, again.bytes.length], [304, 0])
  const older = await page('1', { 'if-modified-since': 'Mon, 01 Jan 2035 00:00:00 GMT' })
  t.equal(older.status, 200, 'only the exact date')
})

t.test('reading', async t => {
  const path = `/v1/books/${one.id}/read-progress`
  const stored = async () => (await asReader('GET', `/v1/books/${one.id}`)).json.readProgress
  const patch = async (body: object) => (await asReader('PATCH', path, { body })).status
  t.equal(await patch({ page: 2 }), 204)
  t.match(await stored(), { page: 2, completed: false, readDate: /\d\dZ$/ })
  t.equal(await patch({ page: 3, completed: false }), 204)
  t.match(await stored(), { page: 3, completed: false })
  t.equal(await patch({ page: 4, completed: false }), 204)
  t.match(await stored(), { page: 4, completed: true }, 'the last page completes')
  for (const body of [{}, { completed: false }, { page: 0 }, { page: 5 }, { page: 3e9 }])
    t.equal(await patch(body), 400)
  t.equal((await asReader('DELETE', path)).status, 204)
  t.equal(await stored(), null)
  t.equal(await patch({ completed: true }), 204)
  t.match(await stored(), { page: 4, completed: true })
  const tracker = `/v2/series/${series}/read-progress/tachiyomi`
  t.same((await asReader('GET', tracker)).json, {
    ...{ booksCount: 3, booksReadCount: 1, booksUnreadCount: 2, booksInProgressCount: 0 },
    ...{ lastReadContinuousNumberSort: 1, maxNumberSort: 2 },
  })
  t.equal((await asReader('PUT', tracker, { body: { lastBookNumberSortRead: 1.5 } })).status, 204)
  t.match((await asReader('GET', tracker)).json, {
    booksReadCount: 2,
    lastReadContinuousNumberSort: 1.5,
  })
  const ofSeries = `/v1/series/${series}/read-progress`
  const counts = async () => (await asReader('GET', `/v1/series/${series}`)).json.booksReadCount
  for (const [method, body, count] of [
    ['POST', undefined, 3],
    ['DELETE', undefined, 0],
    ['PATCH', { completed: true }, 3],
    ['PATCH', { completed: false }, 0],
  ] as const) {
    t.equal((await asReader(method, ofSeries, { body })).status, 204)
    t.equal(await counts(), count, method)
  }
  const [row] = await all.sql`
    select array_agg(distinct surface) as surfaces from reading_session where account_id = ${reader.id}`
  t.same(row!.surfaces, ['komga'], 'of this surface in the ledger')
})

t.test('progression', async t => {
  const path = `/v1/books/${epub.id}/progression`
  t.equal((await asReader('GET', path)).status, 204)
  const { readingOrder } = (await asReader('GET', `/v1/books/${epub.id}/manifest/epub`)).json
  const { href, type } = readingOrder[1]
  const at = (modified: string, place = href) => ({
    body: {
      modified,
      device: { id: 'd', name: 'Reader' },
      locator: { href: place, type, locations: { progression: 0.5 } },
    },
  })
  t.equal((await asReader('PUT', path, at('2026-01-02T00:00:00Z'))).status, 204)
  t.equal((await asReader('PUT', path, at('2026-01-01T00:00:00Z'))).status, 409, 'older')
  t.equal((await asReader('PUT', path, at('2026-01-03T00:00:00Z', 'nowhere'))).status, 400)
  const { json } = await asReader('GET', path)
  t.same(differences('R2Progression', json), [])
  t.match(json, { locator: { href }, device: { name: 'Reader' } })
  const resource = await fetch(href, { headers: { 'x-api-key': reader.key } })
  t.equal(resource.status, 200)
  t.match(resource.headers.get('content-security-policy'), /script-src 'none'/)
})

t.test('files', async t => {
  for (const rest of ['file', 'file/any.cbz']) {
    const { status, bytes, headers } = await asReader('GET', `/v1/books/${one.id}/${rest}`, {
      headers: { range: 'bytes=0-1' },
    })
    t.same([status, bytes.toString()], [206, 'PK'])
    t.match(headers.get('content-disposition'), /1\.cbz/)
  }
  const zip = await asReader('GET', `/v1/series/${series}/file`)
  t.same([zip.status, zip.type], [200, 'application/zip'])
})

t.test('posters', async t => {
  const path = `/v1/books/${two.id}`
  const jpeg = await asReader('GET', `${path}/thumbnail`)
  t.same([jpeg.status, jpeg.type], [200, 'image/jpeg'])
  const list = async () => (await asAdmin('GET', `${path}/thumbnails`)).json
  t.match(await list(), [
    { id: two.id, bookId: two.id, type: 'GENERATED', selected: true, fileSize: Number },
  ])
  const form = new FormData()
  form.set('file', new Blob([new Uint8Array(png(50))]), 'cover.png')
  t.equal((await asReader('POST', `${path}/thumbnails`, { raw: form })).status, 403)
  const added = await asAdmin('POST', `${path}/thumbnails?selected=false`, { raw: form })
  t.same(differences('ThumbnailBookDto', added.json), [])
  t.match(added.json, {
    type: 'USER_UPLOADED',
    selected: false,
    mediaType: 'image/png',
    bookId: two.id,
  })
  const poster = `${path}/thumbnails/${added.json.id}`
  t.equal((await asAdmin('PUT', `${poster}/selected`)).status, 202)
  t.same(
    (await list()).map((one: any) => one.selected),
    [false, true],
  )
  t.equal((await asReader('GET', poster)).type, 'image/jpeg')
  t.equal((await asAdmin('PUT', `${path}/thumbnails/${two.id}/selected`)).status, 202)
  t.same(
    (await list()).map((one: any) => one.selected),
    [true, false],
  )
  t.equal((await asAdmin('DELETE', `${path}/thumbnails/${two.id}`)).status, 400)
  t.equal((await asAdmin('DELETE', poster)).status, 202)
  t.equal((await asAdmin('GET', poster)).status, 404)
  t.equal((await asReader('GET', `/v1/series/${series}/thumbnail`)).type, 'image/jpeg')
})

t.test('metadata', async t => {
  const book = `/v1/books/${half.id}`
  const body = {
    ...{ title: 'Half', titleLock: false, summary: 'S', number: '1.5', releaseDate: '2020-05-04' },
    authors: [
      { name: 'Ann', role: 'Cover' },
      { name: 'Bob', role: 'letterer of sounds' },
    ],
    ...{ tags: ['Blue', 'red'], isbn: '9783161484100', linksLock: true },
    links: [{ label: 'Site', url: 'https://example.org/' }],
  }
  t.equal((await asReader('PATCH', `${book}/metadata`, { body })).status, 403)
  t.equal((await asAdmin('PATCH', `${book}/metadata`, { body })).status, 204)
  t.match((await asAdmin('GET', book)).json.metadata, {
    ...{
      title: 'Half',
      titleLock: false,
      summary: 'S',
      summaryLock: true,
      releaseDate: '2020-05-04',
    },
    authors: [
      { name: 'Ann', role: 'cover' },
      { name: 'Bob', role: 'letterer of sounds' },
    ],
    ...{ tags: ['blue', 'red'], isbn: '9783161484100', authorsLock: true, linksLock: true },
    links: [{ label: 'Site', url: 'https://example.org/' }],
  })
  for (const body of [{ releaseDate: '2020-13-01' }, { title: ' ' }, { isbn: 'x' }])
    t.equal((await asAdmin('PATCH', `${book}/metadata`, { body })).status, 400)
  const cleared = { body: { [half.id]: { releaseDate: null, summary: null, authors: [] } } }
  t.equal((await asAdmin('PATCH', '/v1/books/metadata', cleared)).status, 204)
  t.match((await asAdmin('GET', book)).json.metadata, {
    releaseDate: null,
    summary: '',
    authors: [],
    title: 'Half',
  })
  // All books or none: the second one is unknown, or its date is none.
  const unknown = '00000000-0000-7000-8000-00000000dead'
  for (const [other, date, status] of [
    [unknown, '2020-01-01', 404],
    [one.id, '2020-13-01', 400],
    [half.id.toUpperCase(), '2020-01-01', 400],
  ] as const) {
    const body = { [half.id]: { summary: 'partial' }, [other]: { releaseDate: date } }
    t.equal((await asAdmin('PATCH', '/v1/books/metadata', { body })).status, status)
  }
  t.equal((await asAdmin('GET', book)).json.metadata.summary, '', 'no book is changed')
  const change = {
    ...{ title: 'New', titleSort: 'New sort', status: 'HIATUS', readingDirection: 'WEBTOON' },
    ...{ ageRating: 12, language: 'de', publisher: 'Pub', totalBookCount: 5, summary: 'Sum' },
    ...{ genres: ['Action'], tags: ['Tag'], sharingLabels: ['kids'], ageRatingLock: false },
    links: [{ label: 'A', url: 'https://example.org/a' }],
    alternateTitles: [{ label: 'ja', title: 'アキラ' }],
  }
  t.equal((await asAdmin('PATCH', `/v1/series/${series}/metadata`, { body: change })).status, 204)
  t.match((await asAdmin('GET', `/v1/series/${series}`)).json.metadata, {
    ...change,
    ...{ genres: ['action'], tags: ['tag'], statusLock: true },
  })
  t.same((await asReader('GET', `/v1/series/${series}`)).json.metadata.sharingLabels, [])
  for (const body of [
    { status: 'DEAD' },
    { title: ' ' },
    { links: [{ label: 'a', url: 'nothing' }] },
  ])
    t.equal((await asAdmin('PATCH', `/v1/series/${series}/metadata`, { body })).status, 400)
})

t.test('collections and read lists', async t => {
  t.equal(
    (
      await asReader('POST', '/v1/collections', {
        body: { name: 'X', ordered: true, seriesIds: [series] },
      })
    ).status,
    403,
  )
  for (const [path, key, ids, schema, posterSchema] of [
    [
      '/v1/collections',
      'seriesIds',
      [hidden.seriesId, series],
      'CollectionDto',
      'ThumbnailSeriesCollectionDto',
    ],
    [
      '/v1/readlists',
      'bookIds',
      [two.id, hidden.id, one.id],
      'ReadListDto',
      'ThumbnailReadListDto',
    ],
  ] as const) {
    const body = { name: 'Mine', ordered: true, summary: 'S', [key]: ids }
    const created = await asAdmin('POST', path, { body })
    t.equal(created.status, 200)
    t.same(differences(schema, created.json), [])
    t.same(created.json[key], ids)
    t.equal((await asAdmin('POST', path, { body })).status, 400, 'the name exists')
    t.equal(
      (await asAdmin('POST', path, { body: { ...body, name: 'Y', [key]: [ids[0], ids[0]] } }))
        .status,
      400,
    )
    const own = `${path}/${created.json.id}`
    t.match((await asReader('GET', own)).json, { filtered: true })
    t.equal((await asReader('GET', `${own}/thumbnail`)).type, 'image/jpeg')
    t.same((await asAdmin('GET', `${own}/thumbnails`)).json, [])
    const upload = new FormData()
    upload.set('file', new Blob([new Uint8Array(png(40))]), 'poster.png')
    const poster = (await asAdmin('POST', `${own}/thumbnails`, { raw: upload })).json
    t.same(differences(posterSchema, poster), [])
    t.same((await asReader('GET', `${own}/thumbnails`)).json, [poster])
    const posterPath = `${own}/thumbnails/${poster.id}`
    t.equal((await asReader('GET', posterPath)).type, 'image/jpeg')
    t.equal((await asReader('DELETE', posterPath)).status, 403)
    t.equal((await asAdmin('PUT', `${posterPath}/selected`)).status, 202)
    t.equal((await asAdmin('DELETE', posterPath)).status, 202)
    t.equal((await asAdmin('GET', posterPath)).status, 404)
    t.equal((await asAdmin('PATCH', own, { body: { name: 'Other' } })).status, 204)
    t.match((await asAdmin('GET', own)).json, { name: 'Other', [key]: ids, ordered: true })
  }
  const [list] = (await asReader('GET', `/v1/books/${one.id}/readlists`)).json
  const next = await asReader('GET', `/v1/readlists/${list.id}/books/${two.id}/next`)
  t.equal(next.json.id, one.id, 'without the hidden one')
  t.equal((await asReader('GET', `/v1/readlists/${list.id}/books/${one.id}/next`)).status, 404)
  const tracker = `/v1/readlists/${list.id}/read-progress/tachiyomi`
  t.equal((await asReader('PUT', tracker, { body: { lastBookRead: 1 } })).status, 204)
  const progress = (await asReader('GET', tracker)).json
  t.same(differences('TachiyomiReadProgressDto', progress), [])
  t.match(progress, { booksCount: 2, booksReadCount: 1, lastReadContinuousIndex: 1 })
  t.equal((await asReader('GET', `/v1/readlists/${list.id}/file`)).type, 'application/zip')
  const form = new FormData()
  const cbl = `<ReadingList><Name>Other</Name><Books><Book Series="New" Number="1"/></Books></ReadingList>`
  form.set('file', new Blob([cbl]), 'list.cbl')
  const report = await asAdmin('POST', '/v1/readlists/match/comicrack', { raw: form })
  t.same(differences('ReadListRequestMatchDto', report.json), [])
  t.match(report.json, { readListMatch: { name: 'Other', errorCode: /./ } })
  t.equal(report.json.requests[0].matches[0].books[0].bookId, one.id)
  t.equal((await asAdmin('DELETE', `/v1/readlists/${list.id}`)).status, 204)
  t.equal((await asAdmin('GET', `/v1/readlists/${list.id}`)).status, 404)
})

t.test('work and refusals', async t => {
  const requests: [string, string, number][] = [
    ['POST', `/v1/books/${one.id}/analyze`, 202],
    ['POST', `/v1/books/${one.id}/metadata/refresh`, 202],
    ['POST', `/v1/series/${series}/analyze`, 202],
    ['POST', `/v1/series/${series}/metadata/refresh`, 202],
    ['PUT', '/v1/books/thumbnails', 202],
    ['DELETE', `/v1/books/${one.id}/file`, 403],
    ['DELETE', `/v1/series/${series}/file`, 403],
    ['POST', '/v1/books/import', 403],
    ['POST', '/v1/transient-books', 403],
    ['PUT', '/v1/page-hashes', 403],
  ]
  for (const [method, path, status] of requests) {
    t.equal((await asAdmin(method, path)).status, status, `${method} ${path}`)
    t.equal((await asReader(method, path)).status, 403, `${method} ${path}`)
  }
  // Ends after the work that was started.
  await shelf.scan()
})
