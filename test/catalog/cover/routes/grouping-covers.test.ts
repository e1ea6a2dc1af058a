// Covers of collections and read lists over HTTP: mosaics of visible members, uploads.
import sharp from 'sharp'
import t from 'tap'
import { hideSeries } from '../../../kit/accounts.ts'
import { doctorFindings } from '../../../kit/catalog.ts'
import { comic, createTestLibrary } from '../../../kit/library.ts'
import { startApi } from '../../../kit/server.ts'

const all = await startApi(t)
const names = ['A', 'B', 'C', 'D', 'E']
const colours = ['#f00', '#0f0', '#00f', '#fff', '#000']
const library = await createTestLibrary(
  t,
  all,
  Object.fromEntries(names.map(name => [`${name}/1.cbz`, comic()])),
)
await library.scan()
const books = await library.books()
const maintainer = await all.createUser('maintainer')
const reader = await all.createUser('reader')
const sheltered = await all.createUser('reader')
await hideSeries(all.sql, sheltered.id, [books[0]!.seriesId])

const plain = (background: string) =>
  sharp({ create: { width: 200, height: 300, channels: 3, background } })
    .png()
    .toBuffer()
const upload = (path: string, bytes: Uint8Array, by = maintainer) => {
  const raw = new FormData()
  raw.append('file', new Blob([Uint8Array.from(bytes)]), 'cover')
  return by.request('POST', `${path}/cover`, { raw })
}
for (const [i, { id, seriesId }] of books.entries())
  for (const path of [`/books/${id}`, `/series/${seriesId}`])
    await upload(path, await plain(colours[i]!))

type Caller = typeof reader
const thumbnail = async (path: string, by: Caller = reader) => {
  const { status, headers, bytes } = await by.get(`${path}/thumbnail`)
  return { status, bytes, etag: headers.get('etag'), type: headers.get('content-type') }
}
/** Names of the colours in the middle of each quarter. */
const quarters = async (bytes: Uint8Array) => {
  const { data, info } = await sharp(bytes)
    .removeAlpha()
    .raw()
    .toBuffer({ resolveWithObject: true })
  return [1, 3]
    .flatMap(y => [1, 3].map(x => [x, y] as const))
    .map(([x, y]) => {
      const at = (((info.height * y) >> 2) * info.width + ((info.width * x) >> 2)) * 3
      const digits = [...data.subarray(at, at + 3)].map(value => (value > 127 ? 'f' : '0'))
      return names[colours.indexOf(`#${digits.join('')}`)]
    })
    .join('')
}

for (const [kind, ids, idsKey] of [
  ['collections', books.map(book => book.seriesId), 'seriesIds'],
  ['readlists', books.map(book => book.id), 'bookIds'],
] as const)
  t.test(`covers of ${kind}`, async t => {
    const make = async (members: string[]) => {
      const body = { name: crypto.randomUUID(), ordered: true, [idsKey]: members }
      return `/${kind}/${(await maintainer.post(`/${kind}`, body)).body.id}`
    }
    const path = await make([...ids])
    const first = await thumbnail(path)
    t.match(first, { status: 200, type: 'image/jpeg' })
    t.equal(await quarters(first.bytes), 'ABCD', 'of the first four')
    const fresh = { headers: { 'if-none-match': first.etag! } }
    t.equal((await reader.get(`${path}/thumbnail`, fresh)).status, 304)
    const shown = await thumbnail(path, sheltered)
    t.equal(await quarters(shown.bytes), 'BCDE', 'of those that are visible')
    t.not(shown.etag, first.etag)
    const opds = await reader.get(`/opds/v2${path}/thumbnail.jpg`)
    t.equal(await quarters(opds.bytes), 'ABCD')
    const few = await thumbnail(await make(ids.slice(0, 3)))
    t.equal(await quarters(few.bytes), 'AAAA', 'of the first, where there are fewer')
    t.equal((await thumbnail(await make(ids.slice(0, 1)), sheltered)).status, 404)

    t.equal((await upload(path, await plain('#f0f'), reader)).status, 403)
    t.equal((await upload(path, Buffer.from('no image'))).status, 400)
    t.equal((await upload(path, await plain('#00f'))).status, 204)
    t.equal((await upload(path, await plain('#0f0'))).status, 204, 'replaces the other')
    const uploaded = await thumbnail(path)
    t.equal(await quarters(uploaded.bytes), 'BBBB')
    t.equal((await thumbnail(path, sheltered)).etag, uploaded.etag)
    t.same(await doctorFindings(all), [])
    t.equal((await reader.delete(`${path}/cover`)).status, 403)
    t.equal((await maintainer.delete(`${path}/cover`)).status, 204)
    t.equal((await maintainer.delete(`${path}/cover`)).status, 204)
    t.equal((await thumbnail(path)).etag, first.etag)
    t.equal((await maintainer.delete(`/${kind}/${crypto.randomUUID()}/cover`)).status, 404)
  })
