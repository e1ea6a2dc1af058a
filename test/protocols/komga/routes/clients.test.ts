// Requests of reading apps, as their source code sends them to Komga, and the requirements of their decoders.
import t, { type Test } from 'tap'
import { png } from '../../../kit/files/archives.ts'
import { enableKomga } from '../../../kit/komga.ts'
import { comic, createTestLibrary } from '../../../kit/library.ts'
import { richEpub } from '../../../kit/opds/epub.ts'
import { startApi } from '../../../kit/server.ts'

const all = await startApi(t)
const admin = await all.createUser('admin')
await enableKomga(admin)
const shelf = await createTestLibrary(t, all, {
  'Akira/1.cbz': comic({ pages: 4 }),
  'Akira/1.5.cbz': comic(),
  'Akira/2.cbz': comic(),
  'Novel/rich.epub': richEpub(),
})
await shelf.scan()
const found = await shelf.books()
const { id: book, seriesId: series } = found.find(({ name }) => name === '1.cbz')!
const { id: novel } = found.find(({ folder }) => folder === 'Novel')!
const email = 'ann@example.org'
const password = 'correct horse battery'
const { body: account } = await admin.post('/users', {
  ...{ username: 'ann', email, password, role: 'admin' },
})
if (!account.id) throw new Error(JSON.stringify(account))
const { body: readList } = await admin.post('/readlists', {
  name: 'List',
  ordered: true,
  bookIds: [book],
})
const { body: collection } = await admin.post('/collections', { name: 'All', seriesIds: [series] })

const words = (text: string) => text.trim().split(/\s+/)
const bookKeys = words(`id seriesId seriesTitle libraryId name url number created lastModified
  fileLastModified sizeBytes size media metadata readProgress deleted fileHash oneshot`)
const bookMetadataKeys =
  words(`title titleLock summary summaryLock number numberLock numberSort numberSortLock
  releaseDate releaseDateLock authors authorsLock tags tagsLock isbn isbnLock links linksLock created lastModified`)
const mediaKeys = words(
  `status mediaType pagesCount comment epubDivinaCompatible epubIsKepub mediaProfile`,
)
const seriesKeys =
  words(`id libraryId name url created lastModified fileLastModified booksCount booksReadCount
  booksUnreadCount booksInProgressCount metadata booksMetadata deleted oneshot`)
const seriesMetadataKeys =
  words(`status statusLock created lastModified title titleLock titleSort titleSortLock
  summary summaryLock readingDirection readingDirectionLock publisher publisherLock ageRating ageRatingLock
  language languageLock genres genresLock tags tagsLock totalBookCount totalBookCountLock sharingLabels
  sharingLabelsLock links linksLock alternateTitles alternateTitlesLock`)
const aggregateKeys = words('authors tags releaseDate summary summaryNumber created lastModified')
const pageKeys =
  words(`content pageable totalElements totalPages last first size number numberOfElements
  empty sort`)
const libraryKeys =
  words(`id name root importComicInfoBook importComicInfoSeries importComicInfoCollection
  importComicInfoReadList importComicInfoSeriesAppendVolume importEpubBook importEpubSeries importMylarSeries
  importLocalArtwork importBarcodeIsbn scanForceModifiedTime scanInterval scanOnStartup scanCbx scanPdf scanEpub
  scanDirectoryExclusions repairExtensions convertToCbz emptyTrashAfterScan seriesCover hashFiles hashPages
  hashKoreader analyzeDimensions oneshotsDirectory unavailable`)
const userKeys = words(
  `id email roles sharedAllLibraries sharedLibrariesIds labelsAllow labelsExclude ageRestriction`,
)
const groupingKeys = words('id name ordered createdDate lastModifiedDate filtered')

// Kotlin models without defaults: a missing key is an error.
type Check = (json: any) => string[]
const keys =
  (names: readonly string[], nullable: readonly string[] = []): Check =>
  json =>
    names.flatMap(name =>
      !(name in json)
        ? `${name} is missing`
        : json[name] === null && !nullable.includes(name)
          ? `${name} is null`
          : [],
    )
const each =
  (check: Check): Check =>
  json =>
    (json as any[]).flatMap(check)
const both =
  (...checks: Check[]): Check =>
  json =>
    checks.flatMap(check => check(json))
const at =
  (name: string, check: Check): Check =>
  json =>
    check(json[name]).map(text => `${name}.${text}`)
const bookShape = both(
  keys(bookKeys, ['readProgress']),
  at('media', keys(mediaKeys)),
  at('metadata', keys(bookMetadataKeys, ['releaseDate'])),
)
const seriesShape = both(
  keys(seriesKeys),
  at('metadata', keys(seriesMetadataKeys, ['ageRating', 'totalBookCount'])),
  at('booksMetadata', keys(aggregateKeys, ['releaseDate'])),
)
const pageOf = (check: Check) =>
  both(keys(pageKeys), at('content', each(check)), json =>
    json.content.length === 0 ? ['empty'] : [],
  )
const books = pageOf(bookShape)
const manySeries = pageOf(seriesShape)
const anyPage = keys(pageKeys)
const library = keys(libraryKeys, ['oneshotsDirectory'])
const list: Check = json => (Array.isArray(json) ? [] : ['no array'])
const user = keys(userKeys, ['ageRestriction'])
const tracker = keys(words('booksCount booksReadCount lastReadContinuousNumberSort maxNumberSort'))
const pages = each(keys(words('number fileName mediaType size'), []))
const manifest = both(
  keys(words('metadata links readingOrder resources toc images')),
  at('metadata', keys(['title'])),
)
const jpeg = 'image/jpeg'

type Expected = { status?: number; check?: Check; type?: string }
type Step = [method: string, path: string, expected: Check | Expected | number, options?: Options]
type Options = { body?: unknown; form?: FormData; headers?: Record<string, string> }

/** Swift and Kotlin reject fractions of seconds, and times without a zone. */
const badTimes = (text: string) =>
  (text.match(/"\d{4}-\d\d-\d\dT[^"]*"/g) ?? []).filter(
    time => !/^"[\d-]{10}T[\d:]{8}Z"$/.test(time),
  )

/** Sends the requests one by one, with the cookies of earlier responses if the client keeps them. */
async function replay(
  t: Test,
  client: { headers: Record<string, string>; cookies?: Map<string, string> },
  steps: Step[],
) {
  const { headers, cookies } = client
  for (const [method, path, expectation, { body, form, headers: own = {} } = {}] of steps) {
    const sent = cookies ? [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') : ''
    const response = await fetch(`${all.base}/komga${path}`, {
      method,
      headers: {
        ...headers,
        ...(sent ? { cookie: sent } : {}),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...own,
      },
      ...(body === undefined ? (form ? { body: form } : {}) : { body: JSON.stringify(body) }),
    })
    for (const cookie of response.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(cookie)!
      cookies?.set(name!, value!)
      t.match(cookie, /; Path=\/komga;/, 'the path of the address')
    }
    const bytes = Buffer.from(await response.arrayBuffer())
    const {
      status = 200,
      check,
      type,
    } = typeof expectation === 'number'
      ? ({ status: expectation } as Expected)
      : typeof expectation === 'function'
        ? ({ check: expectation } as Expected)
        : expectation
    const name = `${method} ${path}`
    t.equal(response.status, status, name)
    const contentType = response.headers.get('content-type') ?? ''
    if (type) t.equal(contentType, type, name)
    if (!check || response.status !== status) continue
    const text = bytes.toString()
    t.match(contentType, /json/, name)
    t.same(check(JSON.parse(text)), [], name)
    if (!path.endsWith('/progression')) t.same(badTimes(text), [], name)
  }
}

const key = { 'x-api-key': admin.key }
const basic = { authorization: `Basic ${Buffer.from(`${email}:${password}`).toString('base64')}` }
const image = { headers: { accept: 'image/*,*/*;q=0.8' } }

t.test(
  'Mihon, Komikku, Tachidesk: the extension, and the tracker with its cookies only',
  async t => {
    const cookies = new Map<string, string>()
    const v1 = '/api/v1'
    await replay(t, { headers: { 'user-agent': 'Tachiyomi extension' }, cookies }, [
      ['GET', `${v1}/libraries`, 401],
      ['GET', `${v1}/libraries`, each(library), { headers: basic }],
      ...['genres', 'tags', 'publishers', 'authors'].map(
        (name): Step => ['GET', `${v1}/${name}`, list],
      ),
      ['GET', `${v1}/collections?unpaged=true`, pageOf(keys([...groupingKeys, 'seriesIds']))],
      [
        'GET',
        `${v1}/series?search=&page=0&deleted=false&sort=metadata.titleSort,asc&library_id=${shelf.id}`,
        manySeries,
      ],
      [
        'GET',
        `${v1}/series?search=akira&page=0&deleted=false&read_status=UNREAD&sort=relevance`,
        manySeries,
      ],
      [
        'GET',
        `${v1}/series?page=0&deleted=false&sort=lastModifiedDate,desc&status=ONGOING&genre=&tag=`,
        manySeries,
      ],
      [
        'GET',
        `${v1}/collections/${collection.id}/series?page=0&deleted=false&sort=createdDate,desc`,
        manySeries,
      ],
      ['GET', `${v1}/books?search=&page=0&deleted=false&sort=metadata.title,asc`, books],
      [
        'GET',
        `${v1}/readlists?search=&page=0&deleted=false`,
        pageOf(keys([...groupingKeys, 'summary', 'bookIds'])),
      ],
      ['GET', `${v1}/series/${series}`, seriesShape],
      ['GET', `${v1}/series/${series}/books?unpaged=true&media_status=READY&deleted=false`, books],
      [
        'GET',
        `${v1}/readlists/${readList.id}/books?unpaged=true&media_status=READY&deleted=false`,
        books,
      ],
      ['GET', `${v1}/books/${book}/pages`, pages],
      ['GET', `${v1}/books/${book}/pages/1`, { type: 'image/png' }, image],
      ['GET', `${v1}/books/${book}/pages/1?convert=png`, { type: 'image/png' }, image],
      ['GET', `${v1}/series/${series}/thumbnail`, { type: jpeg }, image],
    ])
    t.ok(cookies.has('KOMGA-SESSION'))
    const progress = `/api/v2/series/${series}/read-progress/tachiyomi`
    const ofList = `${v1}/readlists/${readList.id}/read-progress/tachiyomi`
    await replay(t, { headers: { 'user-agent': 'Mihon v0.19' }, cookies }, [
      ['GET', `${v1}/series/${series}`, keys(['created', 'lastModified'])],
      ['GET', progress, tracker],
      ['PUT', progress, 204, { body: { lastBookNumberSortRead: 1.5 } }],
      ['GET', progress, json => (json.lastReadContinuousNumberSort === 1.5 ? [] : ['not read'])],
      ['GET', ofList, keys(['lastReadContinuousIndex', 'booksCount'])],
      ['PUT', ofList, 204, { body: { lastBookRead: 1 } }],
    ])
    await replay(t, { headers: {} }, [['GET', progress, 401]])
  },
)

t.test('Paperback: slashes at the end', async t => {
  const v1 = '/api/v1'
  await replay(t, { headers: basic }, [
    ['GET', `${v1}/libraries/`, each(library)],
    ['GET', `${v1}/genres/`, list],
    ['GET', `${v1}/tags/series/`, list],
    ['GET', `${v1}/collections/`, anyPage],
    ['GET', `${v1}/series/?page=0&search=akira&deleted=false`, manySeries],
    ['GET', `${v1}/series/new/?page=0&deleted=false`, manySeries],
    ['GET', `${v1}/series/updated/?page=0&deleted=false`, anyPage],
    ['GET', `${v1}/series/${series}/`, seriesShape],
    ['GET', `${v1}/series/${series}/books?unpaged=true&media_status=READY&deleted=false`, books],
    [
      'GET',
      `${v1}/books/?sort=readProgress.readDate,desc&read_status=IN_PROGRESS&page=0&size=20`,
      anyPage,
    ],
    ['GET', `${v1}/books/${book}/pages/`, pages],
    ['GET', `${v1}/books/${book}/pages/1?convert=png`, { type: 'image/png' }],
    ['GET', `${v1}/series/${series}/thumbnail`, { type: jpeg }],
  ])
})

t.test('Komelia: Basic once, cookies afterwards; Komf: Basic with every request', async t => {
  const cookies = new Map<string, string>()
  const v1 = '/api/v1'
  await replay(t, { headers: {}, cookies }, [
    ['GET', '/api/v2/users/me?remember-me=true', user, { headers: basic }],
  ])
  t.same([...cookies.keys()].sort(), ['KOMGA-SESSION', 'komga-remember-me'])
  const form = new FormData()
  form.set('file', new Blob([new Uint8Array(png(60))]), 'poster.png')
  const condition = { allOf: [{ libraryId: { operator: 'is', value: shelf.id } }, { anyOf: [] }] }
  await replay(t, { headers: {}, cookies }, [
    ['GET', `${v1}/libraries`, each(library)],
    ['GET', `${v1}/books/ondeck?library_id=${shelf.id}&size=20`, anyPage],
    [
      'POST',
      `${v1}/books/list?size=20&sort=createdDate,desc`,
      books,
      { body: { condition, fullTextSearch: null } },
    ],
    ['GET', `${v1}/books/${book}`, bookShape],
    ['GET', `${v1}/books/${book}/next`, bookShape],
    ['GET', `${v1}/books/${book}/previous`, 404],
    [
      'GET',
      `${v1}/books/${book}/thumbnails`,
      each(keys(words('id bookId type selected mediaType fileSize width height'))),
    ],
    ['GET', `${v1}/books/${book}/pages/2/thumbnail`, { type: jpeg }],
    ['PATCH', `${v1}/books/${book}/read-progress`, 204, { body: { page: 2 } }],
    ['GET', `${v1}/books/${novel}/manifest/epub`, manifest],
    ['GET', `${v1}/books/${novel}/positions`, keys(['total', 'positions'])],
    ['GET', `${v1}/books/${novel}/progression`, 204],
    ['POST', `${v1}/series/${series}/read-progress`, 204],
    ['DELETE', `${v1}/series/${series}/read-progress`, 204],
  ])
  const metadata = {
    ...{
      title: 'Akira',
      titleLock: true,
      status: 'ENDED',
      summary: 'S',
      publisher: null,
      ageRating: 13,
    },
    ...{ genres: ['action'], tags: ['tag'], readingDirection: 'RIGHT_TO_LEFT', language: 'ja' },
    links: [{ label: 'AniList', url: 'https://anilist.co/manga/1' }],
    alternateTitles: [{ label: 'Native', title: 'アキラ' }],
  }
  const ofBook = {
    title: 'One',
    number: '1',
    numberSort: 1,
    authors: [{ name: 'A', role: 'writer' }],
    releaseDate: '1982-12-20',
  }
  await replay(t, { headers: basic }, [
    ['POST', `${v1}/series/list?size=500&page=0`, manySeries, { body: { condition } }],
    [
      'POST',
      `${v1}/books/list?unpaged=true`,
      books,
      { body: { condition: { seriesId: { operator: 'is', value: series } } } },
    ],
    ['PATCH', `${v1}/series/${series}/metadata`, 204, { body: metadata }],
    ['PATCH', `${v1}/books/${book}/metadata`, 204, { body: ofBook }],
    [
      'GET',
      `${v1}/series/${series}`,
      ({ metadata }) => (metadata.status === 'ENDED' && metadata.statusLock ? [] : ['not stored']),
    ],
    [
      'POST',
      `${v1}/series/${series}/thumbnails?selected=true`,
      keys(words('id seriesId type selected')),
      { form },
    ],
    [
      'GET',
      `${v1}/series/${series}/thumbnails`,
      each(keys(words('id seriesId type selected mediaType fileSize width height'))),
    ],
    ['POST', `${v1}/series/${series}/analyze`, 202],
  ])
})

t.test('KMReader, Komic: Basic with every request, conditions alone or in allOf', async t => {
  const v1 = '/api/v1'
  const unread = { readStatus: { operator: 'is', value: 'UNREAD' } }
  const divina = { headers: { accept: 'application/divina+json' } }
  await replay(t, { headers: basic }, [
    ['GET', '/api/v2/users/me', user],
    ['GET', `${v1}/libraries`, each(library)],
    [
      'POST',
      `${v1}/series/list?page=0&size=20&sort=lastModified,desc`,
      manySeries,
      { body: { condition: unread } },
    ],
    [
      'POST',
      `${v1}/books/list?page=0&size=20&sort=fileLastModified,desc`,
      books,
      { body: { condition: { allOf: [unread] } } },
    ],
    ['POST', `${v1}/series/list?page=0&size=20`, manySeries, { body: {} }],
    ['GET', `${v1}/series/updated?page=0&size=20`, anyPage],
    ['GET', `${v1}/books/${book}`, bookShape],
    ['GET', `${v1}/books/${book}/manifest`, manifest, divina],
    ['GET', `${v1}/books/${novel}/manifest/epub`, manifest],
    ['GET', `${v1}/books/${book}/file`, { type: 'application/zip' }],
    ['PATCH', `${v1}/books/${book}/read-progress`, 204, { body: { page: 2, completed: false } }],
    [
      'GET',
      `${v1}/books/${book}`,
      at(
        'readProgress',
        keys(words('page completed readDate created lastModified deviceId deviceName')),
      ),
    ],
    ['PATCH', `${v1}/series/${series}/read-progress`, 204, { body: { completed: true } }],
    ['DELETE', `${v1}/books/${book}/read-progress`, 204],
    [
      'POST',
      `${v1}/readlists`,
      keys(['id', 'bookIds']),
      { body: { name: 'Mine', summary: '', ordered: true, bookIds: [book] } },
    ],
  ])
})

t.test('the plugin of KOReader: an API key, whole lists', async t => {
  const v1 = '/api/v1'
  await replay(t, { headers: key }, [
    ['GET', `${v1}/series?unpaged=true`, manySeries],
    [
      'GET',
      `${v1}/series/${series}/books?unpaged=true&sort=metadata.numberSort,asc`,
      json =>
        String(json.content.map((one: any) => one.metadata.numberSort)) === '1,1.5,2'
          ? []
          : ['order'],
    ],
    ['GET', `${v1}/books/${book}/file`, {}],
    ['PATCH', `${v1}/books/${book}/read-progress`, 204, { body: { page: 1, completed: false } }],
  ])
})

t.test(
  'the web interface: requests before and after sign-in, empty conditions, counts',
  async t => {
    const cookies = new Map<string, string>()
    const v1 = '/api/v1'
    const headers = { 'x-requested-with': 'XMLHttpRequest', 'sec-fetch-site': 'same-origin' }
    await replay(t, { headers, cookies }, [
      ['GET', `${v1}/claim`, keys(['isClaimed'])],
      ['GET', `${v1}/oauth2/providers`, list],
      ['GET', `${v1}/client-settings/global/list`, {}],
      ['GET', '/api/v2/users/me', 401],
      ['GET', '/api/v2/users/me', user, { headers: basic }],
      ['GET', `${v1}/client-settings/user/list`, {}],
      ['GET', `${v1}/libraries`, each(library)],
      ['POST', `${v1}/series/list?size=0`, anyPage, { body: {} }],
      [
        'POST',
        `${v1}/series/list?page=0&size=20&sort=metadata.titleSort,asc`,
        manySeries,
        { body: { condition: { allOf: [{ anyOf: [] }, { anyOf: [] }, { allOf: [] }] } } },
      ],
      [
        'POST',
        `${v1}/series/list/alphabetical-groups`,
        each(keys(['group', 'count'])),
        { body: {} },
      ],
      ['GET', '/api/v2/authors?role=writer&page=0', anyPage],
      ['PATCH', `${v1}/books/${book}/metadata`, 204, { body: { title: 'One', titleLock: true } }],
      ['GET', '/actuator/info', at('build', keys(['version', 'name']))],
      ['POST', '/api/logout', 204],
      ['GET', '/api/v2/users/me', 401],
    ])
  },
)
