// Server directory browser over HTTP.
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { folderWithFiles, temporaryFolder } from '../../../kit/files/folders.ts'
import { startApi } from '../../../kit/server.ts'

type Entry = { name: string; isDirectory: boolean; isReadable: boolean; path: string }
const all = await startApi(t)
const admin = await all.createUser('admin')
const at = (path: string) => `/filesystem/browse?path=${encodeURIComponent(path)}`

t.test('directories come first, then files, by name, without hidden ones', async t => {
  const root = folderWithFiles(t, {
    'b/1.cbz': Buffer.from('x'),
    'a.txt': Buffer.from(''),
    '.x/1': Buffer.from(''),
  })
  mkdirSync(join(root, 'A'))
  symlinkSync(join(root, 'b'), join(root, 'z-link'))
  symlinkSync(join(root, 'nowhere'), join(root, 'broken'))
  writeFileSync(Buffer.concat([Buffer.from(`${root}/caf`), Buffer.from([0xe9])]), '')
  const { status, body } = await admin.get(at(`${root}/b/..`))
  t.equal(status, 200)
  t.equal(body.currentPath, root)
  t.equal(body.parentPath, join(root, '..'))
  t.equal(body.isTruncated, false)
  t.same(
    body.entries.map((e: Entry) => [e.name, e.isDirectory, e.isReadable]),
    [
      ['A', true, true],
      ['b', true, true],
      ['z-link', true, true],
      ['a.txt', false, true],
      ['broken', false, false],
      ['café', false, true],
    ],
  )
  t.equal(body.entries[1].path, join(root, 'b'))
  const names = async (hidden: string) =>
    (await admin.get(`${at(root)}${hidden}`)).body.entries.map((e: Entry) => e.name)
  t.notOk((await names('')).includes('.x'))
  t.ok((await names('&includeHidden=true')).includes('.x'), 'on request with hidden ones')
})

t.test('a directory with a non-UTF-8 name can be opened by its listed path', async t => {
  const root = folderWithFiles(t, { 'x/1': Buffer.from('') })
  const folder = Buffer.concat([Buffer.from(`${root}/caf`), Buffer.from([0xe9])])
  mkdirSync(folder)
  writeFileSync(Buffer.concat([folder, Buffer.from('/1.cbz')]), '')
  const entry = (await admin.get(at(root))).body.entries.find((e: Entry) => e.name === 'café')
  t.match((await admin.get(at(entry.path))).body.entries, [{ name: '1.cbz' }])
  const created = await admin.post('/libraries', { name: 'Café', path: entry.path })
  t.match(created, { status: 201, body: { path: entry.path } })
})

t.test('the default is the home directory, and drives lists other starting points', async t => {
  t.equal((await admin.get('/filesystem/browse')).body.currentPath, homedir())
  const drives = await admin.get('/filesystem/drives')
  t.equal(drives.status, 200)
  t.match(drives.body.data[0], { name: 'Root', path: '/', isDirectory: true, isReadable: true })
  t.same((await admin.get('/filesystem/drivesSee')).body.data, drives.body.data)
  t.equal((await admin.get(at('/'))).body.parentPath, null)
})

t.test('paths that are not directories are rejected', async t => {
  const root = folderWithFiles(t, { 'a.txt': Buffer.from('') })
  for (const path of ['relative', `${root}/none`, `${root}/a.txt`, `${root}\u0000`])
    t.match(await admin.get(at(path)), { status: 400, body: { error: 'BadRequest' } }, path)
})

t.test('a large directory is truncated', async t => {
  const root = temporaryFolder(t)
  for (let i = 0; i < 5_100; i++) writeFileSync(join(root, `${i}`), '')
  const { body } = await admin.get(at(root))
  t.equal(body.entries.length, 5_000)
  t.equal(body.isTruncated, true)
})

t.test('requires an administrator', async t => {
  const maintainer = await all.createUser('maintainer')
  for (const path of ['/filesystem/browse', '/filesystem/drives', '/filesystem/drivesSee']) {
    t.equal((await maintainer.get(path)).status, 403)
    t.equal((await all.anonymous.get(path)).status, 401)
  }
})

t.test('browsing is limited to permitted directories', async t => {
  const root = folderWithFiles(t, {
    'open/in/1.cbz': Buffer.from('x'),
    'shut/secret.cbz': Buffer.from('x'),
  })
  const open = join(root, 'open')
  symlinkSync(join(root, 'shut'), join(open, 'out'))
  symlinkSync(join(open, 'in'), join(open, 'within'))
  mkdirSync(join(root, 'open-too'))
  const confined = await startApi(t, { 'filesystem.roots': open })
  const admin = await confined.createUser('admin')
  const { body } = await admin.get('/filesystem/browse')
  t.equal(body.currentPath, open)
  t.equal(body.parentPath, null)
  t.same(
    body.entries.map((e: Entry) => e.name),
    ['in', 'within'],
  )
  t.match((await admin.get(at(join(open, 'in')))).body, { parentPath: open })
  for (const path of [
    '/',
    root,
    join(root, 'shut'),
    join(open, 'out'),
    `${open}/../shut`,
    `${open}-too`,
  ]) {
    t.equal((await admin.get(at(path))).status, 403, path)
    t.equal((await admin.post('/libraries', { name: 'x', path })).status, 400, path)
    t.equal((await admin.post('/libraries/preview-scan', { path })).status, 400, path)
  }
  t.equal((await admin.post('/libraries', { name: 'x', path: open })).status, 201)
  t.match((await admin.get('/filesystem/drives')).body.data, [{ path: open }])
})
