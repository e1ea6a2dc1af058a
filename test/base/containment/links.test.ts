// Links in a library: left out by default; by the option of the library read where they may lead, sidecars too.
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t, { type Test } from 'tap'
import { Unreadable } from '../../../lib/base/errors.ts'
import { openLibraryFile } from '../../../lib/base/file.ts'
import { findOrCreateLibrary } from '../../../lib/catalog/library/library-write.ts'
import { temporaryFolder } from '../../kit/files/folders.ts'
import { markedBooks, markedImage } from '../../kit/files/marked.ts'
import { comic, createTestLibrary, openTestLibrary } from '../../kit/library.ts'
import { startApi } from '../../kit/server.ts'

const permitted = temporaryFolder(t)
const outside = temporaryFolder(t)
const all = await startApi(t, { 'filesystem.roots': `${permitted}, /nowhere/at all` })
const { sql } = all
const reader = await all.createUser('reader')
const admin = await all.createUser('admin')

const opf = (title: string) =>
  `<package xmlns:dc="http://purl.org/dc/elements/1.1/"><metadata><dc:title>${title}</dc:title></metadata></package>`
for (const folder of [permitted, outside, join(all.data, 'covers')]) {
  mkdirSync(folder, { recursive: true })
  const isPermitted = folder === permitted
  writeFileSync(join(folder, 'a.cbz'), comic({ pages: 1 }))
  writeFileSync(join(folder, 'text.cbz'), 'root:x:0:0')
  writeFileSync(join(folder, 'metadata.opf'), opf(isPermitted ? 'Permitted' : 'OUTSIDE!'))
  writeFileSync(join(folder, 'series.json'), JSON.stringify({ metadata: { name: 'OUTSIDE!' } }))
  writeFileSync(join(folder, 'cover.png'), await markedImage('OUTSIDE!'))
}

/** Links in a library by name, and whether the option lets a scan read them. */
const links: Record<string, { target: (root: string) => string; isRead: boolean }> = {
  'to permitted.cbz': { target: () => join(permitted, 'a.cbz'), isRead: true },
  'inside.cbz': { target: root => join(root, 'Real', '1.cbz'), isRead: true },
  'inside relative.cbz': { target: () => '../Real/1.cbz', isRead: true },
  'text.cbz': { target: () => join(permitted, 'text.cbz'), isRead: true },
  'outside.cbz': { target: () => join(outside, 'a.cbz'), isRead: false },
  'through.cbz': {
    target: () => join(permitted, '..', outside.split('/').at(-1)!, 'a.cbz'),
    isRead: false,
  },
  'beside.cbz': { target: () => `${permitted}-beside/a.cbz`, isRead: false },
  'chain.cbz': { target: () => join(permitted, 'chain.cbz'), isRead: false },
  'data.cbz': { target: () => join(all.data, 'covers', 'a.cbz'), isRead: false },
  'passwd.cbz': { target: () => '/etc/passwd', isRead: false },
  'device.cbz': { target: () => '/dev/zero', isRead: false },
  'folder.cbz': { target: () => permitted, isRead: false },
  folder: { target: () => permitted, isRead: false },
}
symlinkSync(join(outside, 'a.cbz'), join(permitted, 'chain.cbz'))
mkdirSync(`${permitted}-beside`)
t.teardown(() => rmSync(`${permitted}-beside`, { recursive: true }))
writeFileSync(join(`${permitted}-beside`, 'a.cbz'), comic({ pages: 1 }))

async function linkedLibrary(t: Test) {
  const lib = await createTestLibrary(t, all, {
    'Real/1.cbz': comic({ pages: 1 }),
    'Side/1.cbz': await markedBooks.cbz!('ORIGINAL'),
    'Links/z.cbz': comic({ pages: 1 }),
  })
  for (const [name, { target }] of Object.entries(links))
    symlinkSync(target(lib.root), lib.pathOf(`Links/${name}`))
  return lib
}
const namesIn = async (lib: Awaited<ReturnType<typeof linkedLibrary>>, folder: string) =>
  (await lib.books())
    .filter(b => b.folder === folder && !b.missingAt)
    .map(b => b.name)
    .sort()

t.test('links are left out unless the library permits them', async t => {
  const lib = await linkedLibrary(t)
  t.match(await lib.scan(), { state: 'completed', added: 3, unreadable_directories: 0 })
  t.same(await namesIn(lib, 'Links'), ['z.cbz'])
  t.equal((await admin.get(`/libraries/${lib.id}`)).body.followLinks, false)
  const { status, body } = await admin.patch(`/libraries/${lib.id}`, { followLinks: true })
  t.match({ status, body }, { status: 200, body: { followLinks: true } })
  await lib.scan()
  const read = Object.keys(links).filter(name => links[name]!.isRead)
  t.same(await namesIn(lib, 'Links'), [...read, 'z.cbz'].sort())
  for (const book of await lib.books()) {
    const { status } = await reader.get(`/books/${book.id}/file`)
    t.equal(status, book.name === 'text.cbz' ? 422 : 200, book.name)
  }
  await admin.patch(`/libraries/${lib.id}`, { followLinks: false })
  for (const book of (await lib.books()).filter(b => b.name in links)) {
    t.equal((await reader.get(`/books/${book.id}/file`)).status, 422, `${book.name} at once`)
  }
  await lib.scan({ options: { confirmMissing: true } })
  t.same(await namesIn(lib, 'Links'), ['z.cbz'], 'they are missing after the option was removed')
})

t.test('sidecars that are links follow the same rules', async t => {
  const names = ['metadata.opf', 'series.json', 'cover.png']
  for (const followLinks of [false, true]) {
    const lib = await createTestLibrary(t, all, {
      'Side/1.cbz': await markedBooks.cbz!('ORIGINAL'),
      'Bare/1.cbz': comic({ pages: 0, padding: 10 }),
      'Given/1.cbz': comic({ pages: 1 }),
    })
    await sql`update library set follow_links = ${followLinks} where id = ${lib.id}`
    for (const folder of ['Side', 'Bare'])
      for (const name of names) symlinkSync(join(outside, name), lib.pathOf(`${folder}/${name}`))
    symlinkSync(join(permitted, 'metadata.opf'), lib.pathOf('Given/metadata.opf'))
    await lib.scan()
    const books = await lib.books()
    t.notMatch(JSON.stringify(books), 'OUTSIDE!')
    t.equal(books.find(b => b.folder === 'Bare')!.cover, null, 'no cover from a link')
    const given = books.find(b => b.folder === 'Given')!
    t.equal(given.title === 'Permitted', followLinks)
  }
})

t.test('a sidecar that is exchanged for a link is not read by jobs', async t => {
  const lib = await createTestLibrary(t, all, {
    'Side/1.cbz': comic({ pages: 0, padding: 10 }),
    'Side/cover.png': await markedImage('ORIGINAL'),
    'Side/metadata.opf': Buffer.from(opf('Own')),
  })
  await lib.scan()
  const before = await lib.book('1.cbz')
  t.equal(before.title, 'Own')
  for (const name of ['cover.png', 'metadata.opf']) {
    rmSync(lib.pathOf(`Side/${name}`))
    symlinkSync(join(outside, name), lib.pathOf(`Side/${name}`))
  }
  // Jobs with the sidecars of the last scan.
  await admin.post(`/books/${before.id}/analyze`)
  await admin.post(`/books/${before.id}/thumbnail/generate`)
  await lib.scan({ mode: 'deep' })
  const after = await lib.book('1.cbz')
  t.not(after.title, 'OUTSIDE!')
  t.ok(after.cover === null || after.cover === before.cover)
})

t.test('the data directory is not read although it lies in a library', async t => {
  const lib = await createTestLibrary(t, all, { 'A/1.cbz': comic() })
  const inner = join(lib.root, 'data', 'covers')
  mkdirSync(inner, { recursive: true })
  writeFileSync(join(inner, 'x.cbz'), comic())
  const containment = {
    ...{ root: lib.root, followLinks: true, linkFolders: [lib.root, '/'] },
    dataDir: join(lib.root, 'data'),
  }
  const open = (path: string) => openLibraryFile(Buffer.from(path), containment)
  ;(await open(join(lib.root, 'A', '1.cbz')))[Symbol.dispose]()
  await t.rejects(open(join(inner, 'x.cbz')), Unreadable)
  symlinkSync(join(inner, 'x.cbz'), lib.pathOf('A/2.cbz'))
  await t.rejects(open(join(lib.root, 'A', '2.cbz')), Unreadable)
  symlinkSync(dirname(inner), lib.pathOf('B'))
  await t.rejects(open(join(lib.root, 'B', 'covers', 'x.cbz')), Unreadable)
})

t.test('a scan does not enter the data directory below its library', async t => {
  const root = dirname(all.data)
  writeFileSync(join(root, 'own.cbz'), comic())
  const { id } = await findOrCreateLibrary(sql, { root: Buffer.from(root) })
  const lib = openTestLibrary(all, { id, root })
  t.match(await lib.scan({ mode: 'deep' }), { state: 'completed', added: 1 })
  t.same(
    (await lib.books()).map(book => book.name),
    ['own.cbz'],
  )
})

t.test('a library whose own folder has become a link is read', async t => {
  const lib = await createTestLibrary(t, all, { 'A/1.cbz': comic() })
  const link = `${lib.root} link`
  symlinkSync(lib.root, link)
  const containment = { root: link, followLinks: false, linkFolders: [], dataDir: all.data }
  const path = Buffer.from(join(link, 'A', '1.cbz'))
  ;(await openLibraryFile(path, containment))[Symbol.dispose]()
  await t.rejects(openLibraryFile(path, { ...containment, root: `${link}/B` }), Unreadable)
})
