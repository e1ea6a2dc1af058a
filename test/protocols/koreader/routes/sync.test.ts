// KOReader sync, with the requests of its plugin: devices push and pull positions in files that they know by
// digests, some before the book is cataloged.
import { hash } from 'node:crypto'
import { test } from 'tap'
import { hideSeries } from '../../../kit/accounts.ts'
import { createClient } from '../../../kit/http/client.ts'
import { comic, createTestLibrary } from '../../../kit/library.ts'
import { richEpub } from '../../../kit/opds/epub.ts'
import { startApi } from '../../../kit/server.ts'

const md5 = (text: string) => hash('md5', text, 'hex')

test('KOReader sync', async t => {
  const all = await startApi(t)
  const epub = richEpub()
  const library = await createTestLibrary(t, all, {
    'Akira/1.cbz': comic({ pages: 10 }),
    'Book/rich.epub': epub,
    'Copies/rich.epub': comic(),
  })
  await library.scan()
  const books = await library.books()
  const bookNamed = (folder: string) => books.find(book => book.folder === folder)!
  async function documentOf(id: string): Promise<string> {
    const [row] = await all.sql`select encode(fingerprint, 'hex') as md5 from book where id = ${id}`
    return row!.md5
  }
  const admin = await all.createUser('admin')

  /** A device that signs in as the plugin does, with an API key as the password. */
  async function signIn(user: { get: any; post: any; username: string }, model: string) {
    const { body } = await user.post('/api-keys', { name: model })
    const client = createClient(all.base, {
      'x-auth-user': user.username,
      'x-auth-key': md5(body.key),
      accept: 'application/vnd.koreader.v1+json',
    })
    const place = { device: model, device_id: `id of ${model}` }
    return {
      client,
      key: body,
      push: (document: string, progress: string | number, percentage: number, more: object = {}) =>
        client.put('/koreader/syncs/progress', {
          document,
          progress,
          percentage,
          ...place,
          ...more,
        }),
      pull: async (document: string, query = '') =>
        (await client.get(`/koreader/syncs/progress/${document}${query}`)).body,
    }
  }

  await t.test('signing in', async t => {
    const reader = await all.createUser('reader', { permissions: ['ApiKeysWrite'] })
    const { client, key } = await signIn(reader, 'Kobo')
    const headers = { 'x-auth-user': reader.username, 'x-auth-key': md5(key.key) }
    for (const path of ['/koreader', '/koreader/', '', '/'])
      t.same(
        await (await fetch(`${all.base}${path}/users/auth`, { headers })).json(),
        { authorized: 'OK' },
        `the address ends in "${path}"`,
      )
    const withHeaders = async (headers: Record<string, string>, path = '/koreader/users/auth') =>
      (await createClient(all.base, headers).get(path)).status
    const name = { 'x-auth-user': reader.username }
    t.equal(
      await withHeaders({ 'x-auth-user': key.key, 'x-auth-key': md5('any') }),
      200,
      'key as name',
    )
    t.equal(await withHeaders({ ...name, 'x-auth-key': md5(`${key.key}x`) }), 401)
    // In UTF-8 its last byte is a space in Latin-1.
    const accented = await all.createUser('reader', {
      username: 'voilà',
      permissions: ['ApiKeysWrite'],
    })
    const { client: inUtf8 } = await signIn(
      { ...accented, username: Buffer.from('voilà').toString('latin1') },
      'Kobo',
    )
    t.equal((await inUtf8.get('/koreader/users/auth')).status, 200, 'a name in UTF-8')
    t.equal(await withHeaders({ ...name, 'x-auth-key': key.key }), 401, 'not the key itself')
    t.equal(
      await withHeaders({ 'x-auth-user': admin.username, 'x-auth-key': md5(key.key) }),
      401,
      'the name of another account',
    )
    t.equal(
      await withHeaders({ ...name, 'x-auth-key': md5(key.key) }, '/auth/me'),
      401,
      'only for KOReader sync',
    )
    t.match(await all.anonymous.get('/koreader/users/auth'), {
      status: 401,
      body: { message: String },
    })
    t.equal((await reader.delete(`/api-keys/${key.id}`)).status, 204)
    t.equal((await client.get('/koreader/users/auth')).status, 401, 'revoked')
    const create = await all.anonymous.post('/koreader/users/create', {
      username: 'new',
      password: md5('x'),
    })
    t.match(create, { status: 403, body: { message: /API key/ } })
    t.match(await all.anonymous.get('/koreader/healthcheck'), { body: { state: 'OK' } })
  })

  await t.test('pages of a comic, from one device to another and to the API', async t => {
    const reader = await all.createUser('reader', { permissions: ['ApiKeysWrite'] })
    const [kobo, kindle] = [await signIn(reader, 'Kobo'), await signIn(reader, 'Kindle')]
    const { id } = bookNamed('Akira')
    const document = await documentOf(id)
    t.same(await kobo.pull(document), { document }, 'no position')
    const pushed = await kobo.push(document, '4', 0.4)
    t.match(pushed, { status: 200, body: { document, timestamp: Number } })
    t.match(await kindle.pull(document), {
      ...{ document, progress: '4', percentage: 0.4 },
      ...{ device: 'Kobo', device_id: 'id of Kobo', timestamp: pushed.body.timestamp },
    })
    t.match((await reader.get(`/books/${id}/progress`)).body, { currentPage: 4, completed: false })
    await kindle.push(document, 2, 0.2)
    t.match(await kobo.pull(document), { progress: '2', device: 'Kindle' }, 'the newest wins')
    const deviceInApi = async () => (await reader.get(`/books/${id}/progression`)).body.device
    t.same(await deviceInApi(), { id: 'id of Kindle', name: 'Kindle' })
    await kobo.push(document, 2, 0.2, { device: '' })
    t.same(await deviceInApi(), { id: 'id of Kobo', name: 'id of Kobo' })
    await kobo.push(document, 2, 0.2, { device: ' ', device_id: undefined })
    t.same(await deviceInApi(), { id: all.base, name: 'Stackroom' }, 'neither id nor name')
    await reader.put(`/books/${id}/progress`, { currentPage: 10 })
    t.match(await kobo.pull(document), { progress: '10', percentage: 1, device: 'Stackroom' })
    const sessions = (await reader.get('/reading-stats')).body
    t.same(
      sessions.devices
        .map((d: any) => d.deviceName)
        .filter((n: any) => /^K/.test(n))
        .sort(),
      ['Kindle', 'Kobo'],
    )
  })

  await t.test('positions in an EPUB, as sent and as Readium locators', async t => {
    const reader = await all.createUser('reader', { permissions: ['ApiKeysWrite'] })
    const kobo = await signIn(reader, 'Kobo')
    const { id } = bookNamed('Book')
    const document = await documentOf(id)
    const { readingOrder } = (await reader.get(`/books/${id}/manifest`)).body
    const { href } = readingOrder[1]
    const pointer = '/body/DocFragment[2]/body/div/p[3]/text().17'
    await kobo.push(document, pointer, 0.37)
    t.match(await kobo.pull(document), { progress: pointer, percentage: 0.37 })
    const { body } = await reader.get(`/books/${id}/progression`)
    t.match(body, { device: { name: 'Kobo' }, locator: { href } })
    const last = readingOrder.at(-1)
    const locator = { href: last.href, type: last.type, locations: { progression: 0 } }
    const modified = new Date().toISOString()
    const put = await reader.put(`/books/${id}/progression`, {
      ...{ modified, device: { id: 'app', name: 'app' }, locator },
    })
    t.equal(put.status, 204)
    const back = await kobo.pull(document)
    t.match(back.progress, /^\/body\/DocFragment\[\d+\]\/body$/)
    t.equal(back.device, 'Stackroom')
    await kobo.push(document, back.progress, back.percentage)
    t.equal(
      (await reader.get(`/books/${id}/progression`)).body.locator.href,
      last.href,
      'the way there and back leads to the same resource',
    )
  })

  await t.test('documents by the name of the file', async t => {
    const reader = await all.createUser('reader', { permissions: ['ApiKeysWrite'] })
    const kobo = await signIn(reader, 'Kobo')
    const { id } = bookNamed('Akira')
    await kobo.push(md5('1.cbz'), '3', 0.3)
    t.match((await reader.get(`/books/${id}/progress`)).body, { currentPage: 3 })
    t.match(await kobo.pull(await documentOf(id)), { progress: '3' })
    const unknown = md5('other')
    t.match(
      await kobo.pull(unknown, `?ids=content:${md5('x')},filename:${md5('1.cbz')}`),
      { document: unknown, progress: '3', progress_match: 'filename' },
      'further identifiers',
    )
    const content = await documentOf(id)
    const byContent = `?ids=content:${content}`
    t.match(
      await kobo.pull(unknown, byContent),
      { progress: '3', progress_match: 'filename' },
      'the device that wrote it may have another edition',
    )
    await kobo.push(content, '4', 0.4)
    t.match(await kobo.pull(unknown, byContent), { progress: '4', progress_match: 'content' })
    t.notHas(await kobo.pull(unknown, byContent), { match: 'content' })
    const yesterday = { timestamp: Math.floor(Date.now() / 1_000) - 86_400 }
    await kobo.push(content, '1', 0.1, yesterday)
    t.match(await kobo.pull(content), { progress: '4' }, 'what was read before is history')
    t.equal((await reader.delete(`/books/${id}/progress`)).status, 204)
    const late = await kobo.push(content, '1', 0.1, yesterday)
    t.match(late, { status: 200, body: yesterday }, 'what is older than a mark as unread, too')
    t.equal((await reader.get(`/books/${id}/progress`)).status, 204)
    await kobo.push(md5('unknown'), '7', 0.7)
    await kobo.push(md5('unknown'), '2', 0.2, yesterday)
    t.match(await kobo.pull(md5('unknown')), { progress: '7' })
    await kobo.push(md5('rich.epub'), '/body/DocFragment[1]', 0.5)
    t.equal(
      (await reader.get(`/books/${bookNamed('Book').id}/progress`)).status,
      204,
      'a name that two books have identifies none',
    )
    t.match(await kobo.pull(md5('rich.epub')), { percentage: 0.5 })
  })

  await t.test('an unknown document is linked when its book is cataloged', async t => {
    const reader = await all.createUser('reader', { permissions: ['ApiKeysWrite'] })
    const kobo = await signIn(reader, 'Kobo')
    const other = await signIn(admin, 'Other')
    const bytes = comic({ pages: 8 })
    library.write('Draft/a.cbz', bytes)
    await library.scan()
    const document = await documentOf((await library.book('a.cbz')).id)
    library.remove('Draft/a.cbz')
    await library.scan({ options: { confirmMissing: true } })
    await admin.delete(`/libraries/${library.id}/purge-deleted`)
    const pushed = (await kobo.push(document, '5', 0.625)).body
    t.match(await kobo.pull(document), { progress: '5', timestamp: pushed.timestamp })
    t.same(await other.pull(document), { document }, 'only for its account')
    library.write('New/b.cbz', bytes)
    await library.scan()
    const { id } = await library.book('b.cbz')
    t.match((await reader.get(`/books/${id}/progress`)).body, { currentPage: 5 })
    const pulled = await kobo.pull(document)
    t.match(pulled, { progress: '5', device: 'Kobo', timestamp: pushed.timestamp })
    const [row] =
      await all.sql`select count(*) as rows from koreader_document where document = ${document}`
    t.equal(row!.rows, 0)
  })

  await t.test('the oldest unknown documents make room', async t => {
    const reader = await all.createUser('reader', { permissions: ['ApiKeysWrite'] })
    const kobo = await signIn(reader, 'Kobo')
    await all.sql`
      insert into koreader_document (account_id, document, progress, percentage, device, device_id,
        updated_at)
      select ${reader.id}, md5(n::text), '1', 0.1, '', '', now() - interval '1 day'
      from generate_series(1, 1100) as n`
    const documents = Array.from({ length: 40 }, (_, i) => md5(`new ${i}`))
    const pushed = await Promise.all(documents.map(document => kobo.push(document, 1, 0.1)))
    t.ok(pushed.every(({ status }) => status === 200))
    await kobo.push(documents[0]!, 2, 0.2)
    const rows = await all.sql<{ document: string }[]>`
      select document from koreader_document where account_id = ${reader.id}`
    t.equal(rows.length, 1000)
    const stored = new Set(rows.map(row => row.document))
    t.ok(documents.every(document => stored.has(document)))
  })

  await t.test('hidden books are unknown documents', async t => {
    const reader = await all.createUser('reader', { permissions: ['ApiKeysWrite'] })
    const kobo = await signIn(reader, 'Kobo')
    const { id, seriesId } = bookNamed('Akira')
    await hideSeries(all.sql, reader.id, [seriesId])
    const document = await documentOf(id)
    t.same(await kobo.pull(document), { document })
    t.equal((await kobo.push(document, '4', 0.4)).status, 200)
    t.match(await kobo.pull(document), { progress: '4' })
    await library.scan()
    const rows = await all.sql`select from progress where account_id = ${reader.id}`
    t.equal(rows.length, 0, 'no progress in a hidden book')
    await hideSeries(all.sql, reader.id, [bookNamed('Copies').seriesId])
    await kobo.push(md5('rich.epub'), '/body/DocFragment[1]', 0.5)
    t.match(
      (await reader.get(`/books/${bookNamed('Book').id}/progress`)).body,
      { progressPercentage: 0.5 },
      'the only visible book of a name',
    )
  })

  await t.test('bad requests and the switch', async t => {
    const kobo = await signIn(admin, 'Kobo')
    const document = md5('x')
    for (const change of [{ percentage: 2 }, { progress: 'a\0b' }, { document: '' }])
      t.match(await kobo.push(document, '1', 0.1, change), {
        status: 400,
        body: { message: String },
      })
    await admin.put('/admin/settings/koreader.enabled', { value: false })
    t.match(await kobo.push(document, '1', 0.1), { status: 404, body: { message: /disabled/ } })
    await admin.post('/admin/settings/koreader.enabled/reset')
  })
})
