import t from 'tap'
import { comic, createTestLibrary } from '../../kit/library.ts'
import { startApi } from '../../kit/server.ts'

const all = await startApi(t)
const admin = await all.createUser('admin')
const reader = await all.createUser('reader')
const name = 'Akira'
const info = `<?xml version="1.0"?><ComicInfo><Series>${name}</Series><Publisher>Kodansha</Publisher><Genre>Action</Genre></ComicInfo>`
const shelf = await createTestLibrary(t, all, {
  [`${name}/1.cbz`]: comic({ info }),
  [`${name}/2.cbz`]: comic({ info }),
})
await shelf.scan()
const { seriesId: id } = await shelf.book('1.cbz')
const at = `/series/${id}`

t.test('a reset brings back what the files say, and leaves sharing tags alone', async t => {
  await admin.patch(`${at}/metadata`, {
    title: 'Mine',
    titleSort: 'Sorted',
    publisher: 'Mine',
    year: 1,
    customMetadata: { a: 1 },
  })
  await admin.put(`${at}/genres`, { genres: ['Mine'] })
  await admin.post(`${at}/external-links`, { sourceName: 'x', url: 'https://example.org' })
  const tag = await admin.post('/admin/sharing-tags', { name: `tag ${name}` })
  await admin.post(`${at}/sharing-tags`, { sharingTagId: tag.body.id })
  const { status, body } = await admin.delete(`${at}/metadata`)
  t.equal(status, 200)
  t.match(body, {
    title: name,
    titleSort: null,
    publisher: 'Kodansha',
    year: null,
    status: 'unknown',
    customMetadata: null,
    genres: [{ name: 'Action' }],
    externalLinks: [],
  })
  t.equal(Object.values(body.locks).includes(true), false)
  const tags = await all.sql`select 1 from series_sharing_tag where series_id = ${id}`
  t.equal(tags.length, 1)
  t.equal((await admin.delete(`${at}/metadata`)).status, 200, 'a second time as well')
  await shelf.scan()
  t.match((await reader.get(at)).body, { title: name, publisher: 'Kodansha' })
})

t.test('a reset reads series.json again', async t => {
  const library = await createTestLibrary(t, all, {
    'Stated/1.cbz': comic(),
    'Stated/series.json': Buffer.from(
      JSON.stringify({ metadata: { publisher: 'Stated', status: 'Ended', year: 1999 } }),
    ),
  })
  await library.scan()
  const { seriesId } = await library.book('1.cbz')
  const at = `/series/${seriesId}`
  const stated = { publisher: 'Stated', status: 'ended', year: 1999 }
  t.match((await reader.get(at)).body, stated)
  await admin.patch(`${at}/metadata`, { publisher: 'Mine', status: 'hiatus' })
  await library.scan({ mode: 'deep' })
  t.match((await reader.get(at)).body, { publisher: 'Mine', status: 'hiatus', year: 1999 })
  await admin.delete(`${at}/metadata`)
  await library.scan()
  t.match((await reader.get(at)).body, stated)
})
