import t from 'tap'
import { comic, createTestLibrary } from '../../kit/library.ts'
import { startApi } from '../../kit/server.ts'

const info = `<?xml version="1.0"?><ComicInfo>
  <Title>File title</Title><Publisher>Kodansha</Publisher><Writer>Ana Author, Ben Author</Writer>
  <Genre>Action, Drama</Genre><Tags>robots</Tags><Manga>Yes</Manga></ComicInfo>`

const all = await startApi(t)
const admin = await all.createUser('admin')
const reader = await all.createUser('reader')
const shelf = await createTestLibrary(t, all, { 'Akira/1.cbz': comic({ info }) })
await shelf.scan()
const at = `/books/${(await shelf.book('1.cbz')).id}`

t.test('a reset drops what a user set, at once and when the file was read', async t => {
  await admin.patch(`${at}/metadata`, {
    title: 'Mine',
    publisher: 'Mine',
    writer: 'Me',
    manga: false,
    subtitle: 'Mine',
    isbns: '9783161484100, 9780306406157',
    customMetadata: { a: 1 },
    genre: 'Mine',
  })
  await admin.put(`${at}/tags`, { tags: ['mine'] })
  const { status, body } = await admin.delete(`${at}/metadata`)
  t.equal(status, 200)
  t.match(body, { publisher: null, subtitle: null, isbns: null, customMetadata: null, genres: [] })
  t.equal(Object.values(body.locks).includes(true), false)
  await shelf.scan()
  t.match((await reader.get(`${at}/metadata`)).body, {
    title: 'File title',
    publisher: 'Kodansha',
    writer: 'Ana Author, Ben Author',
    manga: true,
    subtitle: null,
    genre: 'Action, Drama',
    tags: [{ name: 'robots' }],
  })
})
