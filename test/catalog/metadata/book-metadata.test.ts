import t from 'tap'
import { comic, shelve } from '../../kit/library.ts'
import { serve } from '../../kit/server.ts'

const info = `<?xml version="1.0"?><ComicInfo>
  <Title>Told title</Title><Publisher>Kodansha</Publisher><Writer>Ana Author, Ben Author</Writer>
  <Genre>Action, Drama</Genre><Tags>robots</Tags><Manga>Yes</Manga></ComicInfo>`

const all = await serve(t)
const admin = await all.as('admin')
const reader = await all.as('reader')
const shelf = await shelve(t, all, { 'Akira/told.cbz': comic({ info }) })
await shelf.scan()
const at = `/books/${(await shelf.book('told.cbz')).id}`

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
    title: 'Told title',
    publisher: 'Kodansha',
    writer: 'Ana Author, Ben Author',
    manga: true,
    subtitle: null,
    genre: 'Action, Drama',
    tags: [{ name: 'robots' }],
  })
})
