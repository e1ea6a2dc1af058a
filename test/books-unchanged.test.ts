// The folder of a library is never written to: not by scans, edits, covers, resets, nor when the library is deleted.
import { lstatSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { doctorFindings } from './kit/catalog.ts'
import { png } from './kit/files/archives.ts'
import { comic, createTestLibrary, largeComic } from './kit/library.ts'
import { waitUntil } from './kit/processes.ts'
import { startApi } from './kit/server.ts'

/** Every entry with rights and times; the change time is renewed by any write, also by one that is undone. */
function entriesOf(folder: string) {
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort()
  return ['.', ...paths].map(path => {
    const { mode, size, ino, mtimeMs, ctimeMs } = lstatSync(join(folder, path))
    return { path, mode, size, ino, mtimeMs, ctimeMs }
  })
}

t.test('books are never modified', async t => {
  const all = await startApi(t)
  const admin = await all.createUser('admin')
  const shelf = await createTestLibrary(t, all, {
    'A/1.cbz': comic(),
    'A/2.cbz': largeComic(),
    'A/series.json': Buffer.from('{"metadata":{"type":"comicSeries","name":"Aria"}}'),
    'B/broken.cbz': Buffer.from('PK\x03\x04'),
  })
  const before = entriesOf(shelf.root)
  await shelf.scan()
  const { id, seriesId } = await shelf.book('1.cbz')
  const cover = new FormData()
  cover.append('cover', new Blob([Uint8Array.from(png(40))]), 'cover.png')
  const responses = [
    await admin.get(`/books/${id}/pages/1?width=20`),
    await admin.get(`/books/${id}/thumbnail`),
    await admin.put(`/books/${id}/progress`, { currentPage: 2 }),
    await admin.patch(`/books/${id}/metadata`, { title: 'Other', number: '7' }),
    await admin.patch(`/series/${seriesId}/metadata`, { title: 'Other', genres: ['Drama'] }),
    await admin.request('POST', `/books/${id}/cover`, { raw: cover }),
    await admin.delete(`/series/${seriesId}/metadata`),
    await admin.delete(`/books/${id}/metadata`),
    await admin.post(`/books/${id}/analyze`),
  ]
  t.same(
    responses.filter(({ status }) => status >= 400),
    [],
  )
  await shelf.scan({ mode: 'deep' })
  await doctorFindings(all)
  t.equal((await admin.delete(`/libraries/${shelf.id}`)).status, 204)
  await waitUntil(async () => (await all.sql`select from book`).length === 0)
  t.same(entriesOf(shelf.root), before)
})
