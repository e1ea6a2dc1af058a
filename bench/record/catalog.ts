// Catalog of a recording: libraries, accounts, their groupings and reading, created over the API at fixed times.
import { receiveNotifications } from '../../test/kit/accounts.ts'
import type { Scope } from '../../test/kit/db.ts'
import { png } from '../../test/kit/files/archives.ts'
import { createTestLibrary } from '../../test/kit/library.ts'
import { insertReleaseSource, item, pollItems } from '../../test/kit/releases/polls.ts'
import { startApi, type TestApi } from '../../test/kit/server.ts'
import { libraryFiles, setTime } from './library.ts'
import { addName, createNames, type Names } from './normal-form.ts'

export type Viewer = 'admin' | 'reader' | 'key' | 'anonymous' | 'koreader'
export type Catalog = {
  base: string
  names: Names
  /** Headers of each caller. */
  callers: Record<Viewer, Record<string, string>>
}
type Client = Awaited<ReturnType<TestApi['createUser']>>
type Row = Record<string, unknown> & { id: string }

export async function createCatalog(t: Scope): Promise<Catalog> {
  const api = await startApi(t)
  const admin = await api.createUser('admin', { username: 'recording-admin' })
  const libraries = await scanLibraries(t, api, admin)
  await api.dedupe()
  const names = createNames()
  addName(names, admin.id, 'users:admin')
  await nameRecords(names, admin)
  const reader = await createReader(api, admin, { names, libraryId: libraries.main })
  await organize(admin, names)
  await organize(reader, names)
  await announce(api, admin, names)
  await configure(admin)
  await read(admin, names, 0)
  await read(reader, names, 3)
  await receiveNotifications(api.sql)
  await nameRecords(names, admin)
  const key = await admin.post('/api-keys', { name: 'Pages only', permissions: ['PagesRead'] })
  addName(names, key.body.id, 'api-keys:pages')
  const headers = (value: string) => ({ 'x-api-key': value })
  const callers = {
    ...{ admin: headers(admin.key), reader: headers(reader.key), anonymous: {} },
    key: headers(key.body.key),
    koreader: { 'x-auth-user': reader.key, 'x-auth-key': '-' },
  }
  return { base: api.base, names, callers }
}

/** One book is missing after a second scan. */
async function scanLibraries(t: Scope, api: TestApi, admin: Client) {
  const files = await libraryFiles()
  const ids: Record<string, string> = {}
  for (const name of ['main', 'second'] as const) {
    const library = await createTestLibrary(t, api)
    // One after the other: lists by date, and what is equal in another order, have the order of the ids.
    for (const [i, [path, bytes]] of Object.entries(files[name]).entries()) {
      library.write(path, bytes)
      setTime(library.pathOf(path), i)
      await library.scan()
    }
    if (name === 'main') {
      library.remove('Missing/gone.cbz')
      await library.scan()
    }
    const { status } = await admin.patch(`/libraries/${library.id}`, { name: `The ${name} one` })
    if (status !== 200) throw new Error(`the library was not renamed: ${status}`)
    ids[name] = library.id
  }
  return ids as Record<'main' | 'second', string>
}

/** Sees the first library only, no adult books, and no series with the tag `secret`. */
async function createReader(
  api: TestApi,
  admin: Client,
  { names, libraryId }: { names: Names; libraryId: string },
): Promise<Client> {
  const reader = await api.createUser('reader', { username: 'recording-reader' })
  addName(names, reader.id, 'users:reader')
  const tag = await create(admin, names, ['sharing-tags', '/admin/sharing-tags'], {
    name: 'secret',
  })
  await create(admin, names, ['sharing-tags', '/admin/sharing-tags'], { name: 'friends' })
  const hidden = idOf(names, 'series:Hidden things')
  await done(admin.post(`/series/${hidden}/sharing-tags`, { sharingTagId: tag }))
  await done(admin.patch(`/users/${reader.id}`, { libraryIds: [libraryId], ageLimit: 16 }))
  const rule = { sharingTagId: tag, accessMode: 'deny' }
  await done(admin.put(`/users/${reader.id}/sharing-tags`, rule))
  await receiveNotifications(api.sql)
  return reader
}

const idOf = (names: Names, name: string) => {
  const id = names.ids.get(name)
  if (id === undefined) throw new Error(`no record is called ${name}`)
  return id
}

async function done(request: Promise<{ status: number; body: unknown }>) {
  const { status, body } = await request
  if (status >= 300) throw new Error(`${status}: ${JSON.stringify(body).slice(0, 300)}`)
  return body
}

async function create(
  client: Client,
  names: Names,
  [kind, path]: readonly [string, string],
  body: object,
): Promise<string> {
  const { id, name = path } = (await done(client.post(path, body))) as Row
  addName(names, id, `${kind}:${name}`)
  return id
}

/** What an account organizes: groupings if it may, ratings, wanted items, presets. */
async function organize(client: Client, names: Names) {
  const series = ['Akira', 'Bone & Friends', 'Long run', 'Twins'].map(s =>
    idOf(names, `series:${s}`),
  )
  const books = [...names.ids].flatMap(([name, id]) =>
    /^books:.*(Long run 0[3-7]|Akira 01)\.cbz$/.test(name) ? [id] : [],
  )
  if (client.username === 'recording-admin') {
    const everything = [...series, idOf(names, 'series:Hidden things')]
    await create(client, names, ['collections', '/collections'], {
      name: 'Chosen & <more>',
      ordered: true,
      seriesIds: everything.toReversed(),
    })
    const condition = { genre: { operator: 'is', value: 'Drama' } }
    await create(client, names, ['collections', '/collections'], { name: 'All drama', condition })
    await create(client, names, ['readlists', '/readlists'], {
      name: 'In order',
      ordered: true,
      bookIds: books.toReversed(),
    })
    await create(client, names, ['readlists', '/readlists'], {
      name: 'By date',
      summary: 'A list',
      bookIds: books,
    })
    await describe(client, names, series[0]!)
  }
  for (const [i, id] of series.slice(0, 3).entries())
    await done(client.put(`/series/${id}/rating`, { rating: 90 - 20 * i, notes: `note ${i}` }))
  await done(client.post('/want-to-read', { seriesId: series[1]! }))
  await done(client.post('/want-to-read', { bookId: books[2]! }))
  const condition = { userRating: { operator: 'gte', value: 50 } }
  const preset = { scope: 'list', target: 'series', condition }
  await create(client, names, ['filter-presets', '/filter-presets'], {
    name: `Liked by ${client.username}`,
    ...preset,
  })
  await done(client.put('/user/preferences/ui.theme', { value: 'dark' }))
}

/** Metadata that no file has, and covers. */
async function describe(client: Client, names: Names, seriesId: string) {
  const path = `/series/${seriesId}`
  await done(client.post(`${path}/alternate-titles`, { label: 'de', title: 'Das Akira' }))
  await done(client.post(`${path}/external-ids`, { source: 'mangaupdates', externalId: '42' }))
  await done(
    client.post(`${path}/external-links`, { sourceName: 'home', url: 'https://example.org/akira' }),
  )
  await done(
    client.post(`${path}/external-ratings`, { sourceName: 'critics', rating: 71.5, voteCount: 12 }),
  )
  await done(client.patch(`${path}/metadata`, { status: 'ended', year: 1982, summary: 'A city.' }))
  await done(client.put(`${path}/metadata/locks`, { title: true, genres: true }))
  const bookId = [...names.ids].find(([name]) => name.endsWith('Akira 01.cbz'))![1]
  await done(
    client.post(`/books/${bookId}/external-links`, {
      sourceName: 'shop',
      url: 'https://example.org/1',
    }),
  )
  for (const [i, record] of [`/books/${bookId}`, path].entries()) {
    const form = new FormData()
    form.append('file', new Blob([new Uint8Array(png(80 + i))], { type: 'image/png' }), 'cover.png')
    await done(client.post(`${record}/cover`, undefined, { raw: form }))
    const { body } = await client.get(`${record}/covers`)
    for (const cover of rowsOf(body))
      addName(
        names,
        cover.id,
        `covers:${i === 0 ? 'book' : 'series'} ${cover.source ?? cover.type ?? ''}`,
      )
  }
}

async function announce({ sql }: TestApi, admin: Client, names: Names) {
  const tracked = ['Akira', 'Hidden things', 'Elsewhere']
  const seriesIds = tracked.map(title => idOf(names, `series:${title}`))
  await done(admin.post('/series/bulk/track-for-releases', { seriesIds }))
  const source = await insertReleaseSource(sql, { name: 'recorded' })
  addName(names, source.id, 'release-sources:recorded')
  addName(names, source.sourceId, 'sources:recorded')
  const items = tracked.flatMap(title =>
    [7, 8].map(chapter =>
      item({
        ...{ externalReleaseId: `${title} ${chapter}`, title: `${title} c${chapter}` },
        ...{ seriesTitles: [title], releasedAt: `2016-01-0${chapter}T00:00:00.000Z` },
      }),
    ),
  )
  await pollItems(sql, source.id, items)
}

async function configure(admin: Client) {
  const updates = [
    { key: 'komga.enabled', value: true },
    { key: 'koreader.enabled', value: true },
    { key: 'application.name', value: 'Recorded <library>' },
  ]
  await done(admin.post('/admin/settings/bulk', { updates, changeReason: 'for a recording' }))
}

/** Every seventh book is read, begun or opened, on a day of 2016 each. */
async function read(client: Client, names: Names, first: number) {
  const books = [...names.ids].filter(([name]) => /^books:.*\.(cbz|epub)$/.test(name)).toSorted()
  for (const [i, [, id]] of books.entries()) {
    if (i % 7 > 2 || i < first) continue
    const modified = new Date(Date.UTC(2016, 1, 1 + i, 12)).toISOString()
    const state = [{ completed: true }, { currentPage: 1 }, { progressPercentage: 0.5 }][i % 7]!
    const { status } = await client.put(`/books/${id}/progress`, { ...state, modified })
    if (status === 404) continue
    const ended = new Date(Date.UTC(2015, 8, 1 + i, 20)).toISOString()
    const session = {
      ...{ id: sessionId(first, i), bookId: id, deviceId: 'd1', deviceName: 'Tablet' },
      ...{
        kind: 'progress',
        toPage: 1,
        toPercentage: 0.5,
        activeDurationMs: 600_000,
        pagesRead: 4,
      },
      ...{ clientStartedAt: ended.replace('T20', 'T19'), clientEndedAt: ended },
    }
    await done(client.post('/reading-sessions', { sessions: [session] }))
  }
}

const sessionId = (account: number, i: number) =>
  `00000000-0000-7000-8000-${String(account * 1_000 + i).padStart(12, '0')}`

/** The records of a list, with or without pages. */
const rowsOf = (body: object | null) =>
  (Array.isArray(body) ? body : (Object.values(body ?? {}).find(Array.isArray) ?? [])) as Row[]

type NamedRow = Record<string, string | undefined>
const lastSegments = (path = '') => path.split('/').slice(-2).join('/')
/** Lists of the records that get names, with the member that distinguishes them. */
const named: [kind: string, path: string, name: (row: NamedRow) => string][] = [
  ['libraries', '/libraries?pageSize=100', row => row.name!],
  ['series', '/series?pageSize=500&sort=created_at', row => row.title!],
  ['genres', '/genres?pageSize=500', row => row.name!],
  ['tags', '/tags?pageSize=500', row => row.name!],
  ['sources', '/admin/sources', row => row.name!],
  ['releases', '/releases?pageSize=100&state=all', row => row.title!],
  ['releases', '/releases?pageSize=100', row => row.title!],
]

async function nameRecords(names: Names, admin: Client) {
  const books = { includeDeleted: true }
  const { data } = (await done(admin.post('/books/list?pageSize=500', books))) as { data: Row[] }
  for (const { id, path } of data) addName(names, id, `books:${lastSegments(String(path))}`)
  for (const [kind, path, name] of named) {
    const { body } = await admin.get(path)
    for (const row of rowsOf(body) as NamedRow[])
      if (row.id) addName(names, row.id, `${kind}:${name(row)}`)
  }
}
