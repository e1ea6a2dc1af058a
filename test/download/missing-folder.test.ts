// Files of a library whose folder is missing or empty, such as an unmounted drive.
import { mkdirSync, renameSync, rmdirSync } from 'node:fs'
import t from 'tap'
import { comic, createTestLibrary } from '../kit/library.ts'
import { startApi } from '../kit/server.ts'

t.test('pages and downloads are 503 without the folder of the library', async t => {
  const api = await startApi(t)
  const admin = await api.createUser('admin')
  const library = await createTestLibrary(t, api, { 'A/1.cbz': comic(), 'A/2.cbz': comic() })
  await library.scan()
  const [first, second] = await library.books()
  const statuses = async (id: string) => {
    const paths = [`/books/${id}/pages/1`, `/books/${id}/file`]
    const url = (path: string) => `${api.base}/api/v1${path}`
    const headers = { 'x-api-key': admin.key }
    const responses = await Promise.all(paths.map(path => fetch(url(path), { headers })))
    await Promise.all(responses.map(response => response.arrayBuffer()))
    return responses.map(({ status }) => status)
  }
  library.remove('A/1.cbz')
  t.same(await statuses(first!.id), [404, 404], 'a file alone')
  const { root } = library
  renameSync(root, `${root} away`)
  t.same(await statuses(second!.id), [503, 503], 'no folder')
  mkdirSync(root)
  t.same(await statuses(second!.id), [503, 503], 'an empty folder')
  rmdirSync(root)
  renameSync(`${root} away`, root)
  t.same(await statuses(second!.id), [200, 200], 'the folder is back')
})
