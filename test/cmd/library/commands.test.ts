// `stackroom library`: list, add, scan by a running worker, remove.
import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { folderWithFiles, temporaryFolder } from '../../kit/files/folders.ts'
import { comicFiles } from '../../kit/library.ts'
import { processes, waitUntil } from '../../kit/processes.ts'

const data = join(temporaryFolder(t), 'data')
const { sql, stackroom, worker } = await processes(t, {}, data)
const library = (...args: string[]) => stackroom(['library', ...args])
const list = async () => JSON.parse((await library('list', '--json')).stdout)
const comics = folderWithFiles(t, comicFiles(2))
const manga = folderWithFiles(t, comicFiles(1))

t.test('libraries are added without a scan', async t => {
  t.match(await library('list'), { code: 0, stdout: /There are no libraries/ })
  t.same(await list(), [])
  t.match(await library('scan', '--all'), { code: 2, stderr: /There are no active libraries/ })
  const added = await library('add', comics, '--name', 'Comics', '--watch', 'off')
  t.match(added, { code: 0, stderr: '', stdout: /^[0-9a-f-]{36}\n$/ })
  t.match(await library('add', manga, '--schedule', 'off'), { code: 0 })
  const [first, second] = (await list()).sort((a: { name: string }) =>
    a.name === 'Comics' ? -1 : 1,
  )
  t.match(first, { id: added.stdout.trim(), name: 'Comics', path: comics, bookCount: 0 })
  t.match(first, { latestScan: null, lastScannedAt: null, nextScanAt: String })
  t.match(second, { name: manga.split('/').at(-1), nextScanAt: null })
  t.equal((await sql`select from scan`).length, 0)
  t.match(
    (await library('list')).stdout,
    /^name +folder +books +last scan +state\n.*Comics.* 0 +never +not scanned\n/s,
  )
})

t.test('folders are checked as in the API', async t => {
  const refused = async (folder: string, message: RegExp) =>
    t.match(await library('add', folder), { code: 2, stdout: '', stderr: message })
  await refused(comics, /Another library already uses this folder/)
  await refused(join(comics, '..'), /Another library is inside the folder|data directory/)
  const inside = join(manga, 'inside')
  mkdirSync(inside)
  await refused(inside, /inside another library/)
  await refused('/nowhere at all', /^stackroom: \/nowhere at all cannot be read \(ENOENT\)\n$/)
  await refused(data, /data directory/)
  const around = temporaryFolder(t)
  mkdirSync(join(around, 'inner'))
  t.match(await library('add', join(around, 'inner')), { code: 0 })
  await refused(around, /Another library is inside the folder/)
  const scanned = await stackroom(['scan', around])
  t.match(scanned, { code: 2, stdout: '', stderr: /Another library is inside the folder/ })
  t.match(await library('remove', join(around, 'inner'), '--yes'), { code: 0 })
  t.match(await library('add', '/srv', '--strategy', 'none'), {
    code: 2,
    stderr: /Allowed choices/,
  })
})

t.test('scans are queued for a worker', async t => {
  const one = await library('scan', 'comics', '--deep')
  t.match(one, { code: 0, stdout: /^Queued a deep scan of Comics\nNo server or worker is running/ })
  t.match(await library('scan', 'Comics'), { code: 2, stderr: /already queued or running/ })
  t.match((await library('list')).stdout, /Comics .*scan pending\n/)
  const all = await library('scan', '--all')
  t.match(all, { code: 0, stdout: /Comics: A scan .* already queued/ })
  t.match(all, { stdout: /Queued a scan of / })
  const { terminate } = await worker()
  await waitUntil(async () => (await sql`select from scan where state <> 'completed'`).length === 0)
  t.match((await library('list')).stdout, /Comics +\S+ +2 +\d{4}-.* scanned\n/)
  t.match(await library('scan', `${comics}/`), { code: 0, stdout: /A server or worker is running/ })
  await waitUntil(async () => (await sql`select from scan where state <> 'completed'`).length === 0)
  await terminate()
  t.match(await library('scan'), { code: 2, stderr: /Name one library, or use --all/ })
  t.match(await library('scan', 'Comics', '--all'), { code: 2, stderr: /Name one library/ })
  t.match(await library('scan', 'unknown'), { code: 2, stderr: /No library named unknown/ })
})

t.test('a name that several libraries have is refused', async t => {
  const other = folderWithFiles(t, comicFiles(1))
  const { stdout } = await library('add', other, '--name', 'COMICS')
  const id = stdout.trim()
  t.match(await library('scan', 'cOmics'), { code: 2, stderr: /2 libraries are named cOmics/ })
  t.match(await library('scan', id), { code: 0, stdout: /of COMICS/ })
  t.match(await library('remove', 'COMICS', '--yes'), { code: 0 }, 'the exact name is one')
  t.same(
    (await list()).filter((one: { id: string }) => one.id === id),
    [],
  )
})

t.test('a library is removed from the catalog only', async t => {
  t.match(await library('remove', 'Comics'), { code: 2, stderr: /--yes/ })
  const removed = await library('remove', 'Comics', '--yes')
  t.match(removed, {
    code: 0,
    stdout: /^Removed Comics; its files on disk are unchanged\nNo server/,
  })
  t.equal((await list()).length, 1)
  t.match(await library('remove', 'Comics', '--yes'), {
    code: 2,
    stderr: /No library named Comics/,
  })
  const { terminate } = await worker()
  await waitUntil(async () => (await sql`select from library`).length === 1)
  await terminate()
  t.ok(existsSync(comics))
})
