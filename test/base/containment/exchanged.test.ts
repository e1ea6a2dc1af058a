// Containment of library files: a book that is exchanged for a link, or for anything else that is no book of
// its library, is not sent by any route, not even in the moment of the exchange.
import { spawnSync } from 'node:child_process'
import { mkdirSync, renameSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { Worker } from 'node:worker_threads'
import t, { type Test } from 'tap'
import { resources } from '../../../lib/api/resources.ts'
import { openapiDocument } from '../../../lib/http/openapi/openapi.ts'
import { temporaryFolder } from '../../kit/files/folders.ts'
import { isFromOutside, markedBooks } from '../../kit/files/marked.ts'
import { readBody } from '../../kit/http/body.ts'
import { operationsOf } from '../../kit/http/operation.ts'
import { createTestLibrary } from '../../kit/library.ts'
import { startApi } from '../../kit/server.ts'

const extensions = Object.keys(markedBooks)
const originals: Record<string, Buffer> = {}
const foreign: Record<string, Buffer> = {}
for (const extension of extensions) {
  originals[`Row/deep/${extension}.${extension}`] = await markedBooks[extension]!('ORIGINAL')
  foreign[extension] = await markedBooks[extension]!('OUTSIDE!')
}
const places = Object.keys(originals)
const time = new Date(1_700_000_000_000)
const secret = 'the password of the database'

const all = await startApi(t)
const shelf = await createTestLibrary(t, all, originals)
for (const place of places) utimesSync(shelf.pathOf(place), time, time)
await shelf.scan()
const reader = await all.createUser('reader')
const books = await shelf.books()
const seriesId = books[0]!.seriesId
const elsewhere = temporaryFolder(t)

/** A folder with the books marked `OUTSIDE!`, of equal sizes and times, under the names of the originals. */
function foreignFolder(folder: string) {
  mkdirSync(folder, { recursive: true })
  for (const [extension, bytes] of Object.entries(foreign)) {
    const path = join(folder, `${extension}.${extension}`)
    writeFileSync(path, bytes)
    utimesSync(path, time, time)
  }
  return folder
}
const outside = foreignFolder(join(elsewhere, 'books'))
const inData = foreignFolder(join(all.data, 'covers'))
const inLibrary = foreignFolder(join(shelf.root, '.other'))
writeFileSync(join(all.data, 'password'), secret)
writeFileSync(join(elsewhere, 'text'), secret)

const nameOf = (path: string) => path.slice(path.lastIndexOf('/') + 1)
const linkTo = (target: (path: string) => string) => (path: string) => {
  rmSync(path)
  symlinkSync(target(path), path)
}
const linkToFolder = (target: string) => (path: string) => {
  const folder = dirname(path)
  renameSync(folder, join(folder, '..', 'away'))
  symlinkSync(target, folder)
}
const replaceBy = (make: (path: string) => void) => (path: string) => {
  rmSync(path)
  make(path)
}

/** What may take the place of a book. */
const exchanges: Record<string, (path: string) => void> = {
  'a link outside': linkTo(path => join(outside, nameOf(path))),
  'a relative link outside': linkTo(path => relative(dirname(path), join(outside, nameOf(path)))),
  'a link that goes up and down again': linkTo(
    path => `${shelf.root}/Row${'/..'.repeat(20)}${outside}/../books/${nameOf(path)}`,
  ),
  'a chain of links': linkTo(path => {
    const names = [1, 2, 3].map(i => join(shelf.root, 'Row', `.chain-${i}-${nameOf(path)}`))
    for (const name of names) rmSync(name, { force: true })
    symlinkSync(join(outside, nameOf(path)), names[2]!)
    symlinkSync(names[2]!, names[1]!)
    symlinkSync(nameOf(names[1]!), names[0]!)
    return names[0]!
  }),
  'a link to another file of the library': linkTo(path => join(inLibrary, nameOf(path))),
  'a link into the data directory': linkTo(path => join(inData, nameOf(path))),
  'a link to a secret of the data directory': linkTo(() => join(all.data, 'password')),
  'a link to a text': linkTo(() => join(elsewhere, 'text')),
  'a link through the process': linkTo(path => `/proc/self/root${outside}/${nameOf(path)}`),
  'a link to the environment of the process': linkTo(() => '/proc/self/environ'),
  'a link to an endless device': linkTo(() => '/dev/zero'),
  'a link to itself': linkTo(path => path),
  'a link to nothing': linkTo(() => join(elsewhere, 'nothing')),
  'a text of the same size and time': replaceBy(path => {
    const place = places.find(name => nameOf(name) === nameOf(path))!
    writeFileSync(path, Buffer.alloc(originals[place]!.length, `${secret} `))
    utimesSync(path, time, time)
  }),
  'a pipe': replaceBy(path => spawnSync('mkfifo', [path])),
  'a folder': replaceBy(path => mkdirSync(path)),
}

const folders = {
  outside,
  'to another one of the library': inLibrary,
  'into the data directory': inData,
}

/** All routes that send something else than JSON of a book or a series. */
const served = operationsOf(openapiDocument(resources, '1') as any)
  .filter(
    ({ method, path }) =>
      method === 'GET' && /\/(?:books|series)\/\{(?:book_id|series_id|id)\}/.test(path),
  )
  .filter(({ responses }) =>
    Object.keys(responses['200']?.content ?? {}).some(type => !/json|event-stream/.test(type)),
  )
const resourceNames = ['OPS/one.xhtml', 'OPS/style.css', 'OPS/2.png']

function requests(): string[] {
  return served.flatMap(({ path, parameters }) => {
    const ids = path.includes('/series/') ? [seriesId] : books.map(book => book.id)
    const names = path.includes('/resource/') ? resourceNames : ['2']
    const urls = ids.flatMap(id =>
      names.map(name =>
        path.replace(/\{(\W?\w*)\}/g, (_, key: string) => (/id$/.test(key) ? id : name)),
      ),
    )
    const canResize = parameters.some(({ name }) => name === 'width')
    return canResize ? urls.flatMap(url => [url, `${url}?width=50`]) : urls
  })
}

async function get(url: string, headers: Record<string, string> = {}) {
  const response = await fetch(all.base + url, { headers: { 'x-api-key': reader.key, ...headers } })
  return {
    url,
    status: response.status,
    headers: response.headers,
    bytes: await readBody(response),
  }
}

async function walk() {
  const answers = []
  for (const url of requests()) answers.push(await get(url))
  const leaks: string[] = []
  for (const answer of answers)
    if (await isFromOutside(answer, [secret, 'PATH='])) leaks.push(answer.url)
  return { answers, leaks }
}

function restore() {
  rmSync(join(shelf.root, 'Row'), { recursive: true, force: true })
  for (const [place, bytes] of Object.entries(originals)) {
    shelf.write(place, bytes)
    utimesSync(shelf.pathOf(place), time, time)
  }
}

t.test('the check sees content from elsewhere, and routes send what is in place', async t => {
  for (const extension of extensions)
    t.equal(foreign[extension]!.length, originals[`Row/deep/${extension}.${extension}`]!.length)
  t.ok(requests().length > 40, `${requests().length} requests`)
  const { answers, leaks } = await walk()
  t.same(leaks, [])
  const files = answers.filter(({ status }) => status === 200)
  t.ok(files.length > 25, `${files.length} of them succeed`)
  for (const place of places) {
    writeFileSync(shelf.pathOf(place), foreign[place.split('.').at(-1)!]!)
    utimesSync(shelf.pathOf(place), time, new Date(time.getTime() + 5_000))
  }
  const found = (await walk()).leaks
  t.ok(found.length > 10, `in place of the originals it is found in ${found.length} answers`)
  for (const { id } of books)
    t.ok(
      found.some(url => url.includes(id)),
      'of each book',
    )
  t.ok(found.some(url => url.includes(seriesId)))
  restore()
})

/** Requests everything after exchanges that `exchange` makes. */
async function checkExchanged(t: Test, exchange: () => void) {
  // Directories and contents are in memory, as for a book that is being read.
  await Promise.all(books.map(book => get(`/api/v1/books/${book.id}/pages/1`)))
  exchange()
  const { answers, leaks } = await walk()
  t.same(leaks, [])
  const sent = answers.filter(
    ({ url, status }) => /\/file|\/download|\/resource\//.test(url) && status < 400,
  )
  t.same(sent, [], 'downloads are refused')
  t.same(
    answers.filter(({ status }) => status >= 500 && status !== 503),
    [],
    'without an internal error',
  )
  for (const book of books) {
    const part = await get(`/api/v1/books/${book.id}/file`, { range: 'bytes=0-9' })
    t.ok(part.status >= 400, `a range ${part.status}`)
  }
  restore()
}

for (const [name, target] of Object.entries(folders))
  t.test(`nothing is sent of a folder linked ${name}`, t =>
    checkExchanged(t, () => linkToFolder(target)(shelf.pathOf(places[0]!).toString())),
  )

t.test('nothing is sent of a link outside, in every format', t =>
  checkExchanged(t, () => {
    for (const place of places) exchanges['a link outside']!(shelf.pathOf(place).toString())
  }),
)

// Each of the others takes the place of a book of one format.
const others = Object.keys(exchanges)
for (let first = 0; first < others.length; first += places.length) {
  const names = others.slice(first, first + places.length)
  t.test(`nothing is sent of ${names.join(', ')}`, t =>
    checkExchanged(t, () => {
      for (const [i, place] of places.entries())
        exchanges[names[i] ?? 'a link outside']!(shelf.pathOf(place).toString())
    }),
  )
}

t.test('jobs do not read it either', async t => {
  const before = await shelf.books()
  for (const place of places) exchanges['a link outside']!(shelf.pathOf(place).toString())
  for (const { id } of books) {
    await all.sql`update book_artifact set sha256 = null, cover = null where book_id = ${id}`
    await reader.get(`/books/${id}/thumbnail`)
  }
  await shelf.scan({ mode: 'deep', options: { confirmMissing: true } })
  const after = await shelf.books()
  t.same(
    after.map(book => [book.id, book.sha256, book.cover, book.missingAt !== null]),
    before.map(book => [book.id, null, null, true]),
  )
  t.notMatch(JSON.stringify(after), 'OUTSIDE!')
  restore()
  await shelf.scan({ mode: 'deep' })
  t.same(
    (await shelf.books()).map(book => [book.id, book.sha256]),
    before.map(book => [book.id, book.sha256]),
    'the books come back',
  )
})

t.test('an exchange during the request is noticed', async t => {
  const path = shelf.pathOf('Row/deep/cbz.cbz').toString()
  const book = books.find(({ name }) => name === 'cbz.cbz')!
  const flip = `
    const { linkSync, renameSync, symlinkSync, unlinkSync } = require('node:fs')
    const { path, original, target, state } = require('node:worker_threads').workerData
    for (let i = 0; Atomics.load(state, 0) === 0; i++) {
      const next = path + '.next'
      if (i % 2 === 0) symlinkSync(target, next)
      else linkSync(original, next)
      renameSync(next, path)
    }`
  const original = join(shelf.root, '.original')
  renameSync(path, original)
  const state = new Int32Array(new SharedArrayBuffer(4))
  const target = join(outside, 'cbz.cbz')
  const worker = new Worker(flip, { eval: true, workerData: { path, original, target, state } })
  const urls = [`/api/v1/books/${book.id}/file`, `/api/v1/books/${book.id}/pages/2`]
  const statuses = new Map<number, number>()
  for (let i = 0; i < 50; i++) {
    for (const answer of await Promise.all(urls.map(url => get(url)))) {
      statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1)
      if (await isFromOutside(answer)) t.fail(`${answer.url} sends what lies outside`)
    }
  }
  Atomics.store(state, 0, 1)
  await new Promise(resolve => worker.once('exit', resolve))
  t.comment([...statuses].map(([status, count]) => `${status}: ${count}`).join(', '))
  rmSync(original)
  restore()
})
