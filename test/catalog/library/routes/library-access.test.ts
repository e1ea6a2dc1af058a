// Settings of libraries that read folders or lead to the deletion of books: who may change them.
import t from 'tap'
import { hideSeries } from '../../../kit/accounts.ts'
import { temporaryFolder } from '../../../kit/files/folders.ts'
import { comic, createTestLibrary } from '../../../kit/library.ts'
import { startApi } from '../../../kit/server.ts'

const all = await startApi(t)
const { sql } = all

const purge = { purgeDeletedOnScan: true }
const on = 'on' as const
const off = 'off' as const
/** Each change, with the state before of `purgeDeletedOnScan` and whether it can lead to a deletion. */
const changes: [before: 'on' | 'off', change: Record<string, unknown>, deletes: boolean][] = [
  [off, { scanningConfig: purge }, true],
  [off, { scanning_config: purge }, true],
  [off, { scanningConfig: { purge_deleted_on_scan: true } }, true],
  [off, { scanning_config: { purge_deleted_on_scan: true, watch: 'off' } }, true],
  [off, { excludedPatterns: '*.cbz', scanningConfig: purge }, true],
  [off, { excludedPatterns: '*.cbz', scanningConfig: { purgeDeletedOnScan: false } }, false],
  [off, { excludedPatterns: '*.cbz' }, false],
  [off, { scanningConfig: { scanMode: 'deep' } }, false],
  [off, { scanningConfig: null }, false],
  [on, { excludedPatterns: '*.cbz' }, true],
  [on, { excluded_patterns: '*.cbz' }, true],
  [on, { allowedFormats: ['pdf'] }, true],
  [on, { followLinks: false }, true],
  [on, { excludedPatterns: null, allowedFormats: null }, false],
  [on, { excludedPatterns: '*.cbz', scanningConfig: { purgeDeletedOnScan: false } }, false],
  [on, { excludedPatterns: '*.cbz', scanningConfig: null }, false],
  [on, { scanningConfig: purge }, false],
  [on, { scanningConfig: { watch: 'poll' } }, false],
  [on, { name: 'Renamed', description: 'x', bookStrategy: 'filename' }, false],
]

t.test('what can delete books requires what the deletion itself requires', async t => {
  const shelf = await createTestLibrary(t, all, { 'A/1.cbz': comic(), 'B/1.cbz': comic() })
  await shelf.scan()
  const [book] = await shelf.books()
  const basic = ['LibrariesRead', 'LibrariesWrite']
  const keyOf = async (user: { post: typeof admin.post }, permissions: string[]) => {
    const { body } = await user.post('/api-keys', { name: 'x', permissions })
    return all.withHeaders({ 'x-api-key': body.key })
  }
  const admin = await all.createUser('admin')
  const maintainer = await all.createUser('maintainer')
  const limited = await all.createUser('maintainer')
  await hideSeries(sql, limited.id, [book!.seriesId])
  const callers = [
    { name: 'admin', client: admin, deletes: true },
    { name: 'key of an admin', client: await keyOf(admin, basic), deletes: false },
    { name: 'maintainer', client: maintainer, deletes: true },
    { name: 'key without', client: await keyOf(maintainer, basic), deletes: false },
    { name: 'books', client: await keyOf(maintainer, [...basic, 'BooksDelete']), deletes: true },
    { name: 'series', client: await keyOf(maintainer, [...basic, 'SeriesDelete']), deletes: false },
    { name: 'limited', client: limited, deletes: false },
  ]
  const state = () => sql`
    select name, excluded_patterns, allowed_formats, follow_links, scanning_config
    from library where id = ${shelf.id}`
  for (const [i, { name, client, deletes }] of callers.entries())
    for (const [j, [before, change, isDeleting]] of changes.entries()) {
      const method = (i + j) % 2 === 0 ? 'patch' : 'put'
      await sql`
          update library set name = 'x', description = null, excluded_patterns = '',
            allowed_formats = null, follow_links = true, book_strategy = 'metadata_first',
            scanning_config = ${sql.json({
              ...{ enabled: false, scanMode: 'normal', cronSchedule: null, cronTimezone: null },
              ...{ scanOnStart: false, purgeDeletedOnScan: before === on },
            })}
          where id = ${shelf.id}`
      const [was] = await state()
      const { status } = await client[method](`/libraries/${shelf.id}`, change)
      const isAllowed = deletes || !isDeleting
      t.equal(status, isAllowed ? 200 : 403, `${name}: ${method} ${JSON.stringify(change)}`)
      if (!isAllowed) t.same((await state())[0], was)
    }
})

t.test('a library that is sent back unchanged is accepted', async t => {
  const shelf = await createTestLibrary(t, all, { 'A/1.cbz': comic() })
  const admin = await all.createUser('admin')
  const limited = await all.createUser('maintainer')
  await hideSeries(sql, limited.id, [])
  const change = { excludedPatterns: '*.pdf', followLinks: true, scanningConfig: purge }
  t.equal((await admin.patch(`/libraries/${shelf.id}`, change)).status, 200)
  const { body } = await limited.get(`/libraries/${shelf.id}`)
  t.equal((await limited.put(`/libraries/${shelf.id}`, body)).status, 200)
})

t.test('links are switched on only by those who may read folders', async t => {
  const shelf = await createTestLibrary(t, all, { 'A/1.cbz': comic() })
  const maintainer = await all.createUser('maintainer')
  const limited = await all.createUser('maintainer')
  await hideSeries(sql, limited.id, [])
  const narrow = await all.createUser('maintainer')
  await createTestLibrary(t, all, {})
  await sql`update account set all_libraries = false where id = ${narrow.id}`
  await sql`insert into account_library values (${narrow.id}, ${shelf.id})`
  const admin = await all.createUser('admin')
  for (const [client, isAllowed] of [
    [limited, false],
    [narrow, false],
    [maintainer, true],
    [admin, true],
  ] as const)
    for (const field of ['followLinks', 'follow_links']) {
      await sql`update library set follow_links = false where id = ${shelf.id}`
      const { status } = await client.patch(`/libraries/${shelf.id}`, { [field]: true })
      t.equal(status, isAllowed ? 200 : 403)
      const [row] = await sql`select follow_links as follows from library where id = ${shelf.id}`
      t.equal(row!.follows, isAllowed)
      t.equal((await client.patch(`/libraries/${shelf.id}`, { [field]: false })).status, 200)
    }
})

t.test('a new library purges only for a caller who may delete', async t => {
  const root = temporaryFolder(t)
  const removeIt = () => sql`delete from library where name = 'New'`
  const maintainer = await all.createUser('maintainer')
  const permissions = ['LibrariesRead', 'LibrariesWrite']
  const { body } = await maintainer.post('/api-keys', { name: 'x', permissions })
  const weak = all.withHeaders({ 'x-api-key': body.key })
  for (const spelling of [
    { scanningConfig: purge },
    { scanning_config: purge },
    { scanningConfig: { purge_deleted_on_scan: true } },
  ]) {
    const library = { name: 'New', path: root, ...spelling }
    t.equal((await weak.post('/libraries', library)).status, 403)
    t.equal((await maintainer.post('/libraries', library)).status, 201)
    await removeIt()
  }
  t.equal((await weak.post('/libraries', { name: 'New', path: root })).status, 201)
})

t.test('books that are hidden decide nothing about a library', async t => {
  const shelf = await createTestLibrary(t, all, { 'A/1.cbz': comic() })
  await shelf.scan()
  const [book] = await shelf.books()
  const limited = await all.createUser('maintainer')
  await hideSeries(sql, limited.id, [book!.seriesId])
  const analysis = await limited.post(`/libraries/${shelf.id}/analyze`)
  t.match(analysis, { status: 400, body: { message: 'The library has no books' } })
  const empty = await createTestLibrary(t, all, {})
  t.same((await limited.post(`/libraries/${empty.id}/analyze`)).status, analysis.status)
  const status = (id: string) => limited.get(`/libraries/${id}/scan-status`)
  t.match((await status(empty.id)).body.message, /not been scanned/)
  const unknown = await status(book!.id)
  t.match(unknown, { status: 404, body: { message: 'Library not found' } })
})
