// Semantics of single requests: permissions of purge and progress, partial settings, duplicate titles,
// unlocked labels, taken names, the page of a verification e-mail.
import { createHash } from 'node:crypto'
import { test } from 'tap'
import { comic, createTestLibrary } from '../kit/library.ts'
import { createRandom } from '../kit/random.ts'
import { startApi } from '../kit/server.ts'

const info = '<?xml version="1.0"?><ComicInfo><Genre>Noir</Genre><Tags>rain</Tags></ComicInfo>'

test('requests', async t => {
  const all = await startApi(t)
  const admin = await all.createUser('admin')
  const shelf = await createTestLibrary(t, all, {
    'Spider-Man: Blue/1.cbz': comic({ info }),
    'Spider Man, Blue!/1.cbz': comic(),
    '「進撃の巨人」/1.cbz': comic(),
    '進撃の巨人/1.cbz': comic(),
    'Ärger/1.cbz': comic(),
    'Arger・/1.cbz': comic(),
    '!!!/1.cbz': comic(),
    '???/1.cbz': comic(),
    'Spider 2/1.cbz': comic(),
  })
  await shelf.scan()
  await all.dedupe()
  const book = (await shelf.books())[0]!
  const keyWith = async (...permissions: string[]) => {
    const { body } = await admin.post('/api-keys', { name: 'key', permissions })
    return all.withHeaders({ 'x-api-key': body.key })
  }

  t.test('titles that differ in punctuation, case and accents form a group', async t => {
    const { body } = await admin.get('/duplicates/series?matchType=title')
    const titles = body.data.map((group: { members: { title: string }[] }) =>
      group.members.map(member => member.title).sort(),
    )
    t.same(titles.sort(), [
      ['Arger・', 'Ärger'],
      ['Spider Man, Blue!', 'Spider-Man: Blue'],
      ['「進撃の巨人」', '進撃の巨人'],
    ])
  })

  t.test('only the permission to delete books purges', async t => {
    const [purgeSeries, purgeLibrary] = [
      `/series/${book.seriesId}/purge-deleted`,
      `/libraries/${shelf.id}/purge-deleted`,
    ]
    const others = ['BooksWrite', 'SeriesWrite', 'SeriesDelete', 'LibrariesWrite']
    const writer = await keyWith(...others, 'LibrariesDelete')
    for (const path of [purgeSeries, purgeLibrary]) {
      t.equal((await writer.delete(path)).status, 403, path)
      t.equal((await (await keyWith('BooksDelete')).delete(path)).status, 200, path)
    }
  })

  t.test('BooksWrite or ProgressWrite alone suffices for progress', async t => {
    for (const permission of ['BooksWrite', 'ProgressWrite']) {
      const key = await keyWith(permission)
      t.equal((await key.put(`/books/${book.id}/progress`, { current_page: 1 })).status, 200)
      t.equal((await key.delete(`/books/${book.id}/progress`)).status, 204)
    }
    const reader = await keyWith('BooksRead')
    t.equal((await reader.put(`/books/${book.id}/progress`, { current_page: 1 })).status, 403)
  })

  t.test('an error names the field as it was sent', async t => {
    const path = `/libraries/${shelf.id}`
    for (const [body, field] of [
      [{ scanning_config: { default_mode: 'x' } }, 'body/scanning_config/default_mode'],
      [{ scanningConfig: { defaultMode: 'x' } }, 'body/scanningConfig/defaultMode'],
      [{ scanningConfig: { scanMode: 'x' } }, 'body/scanningConfig/scanMode'],
      [{ scanning_config: { scanMode: 1 } }, 'body/scanning_config/scanMode'],
      [{ allowed_formats: ['CBZ', 'x'] }, 'body/allowed_formats/1'],
      [{ title_preprocessing_rules: [{ pattern: 1 }] }, 'body/title_preprocessing_rules/0'],
      [{ allowed_formats: Array(21).fill('CBZ') }, 'body/allowed_formats'],
    ] as const) {
      const response = await admin.patch(path, body)
      t.equal(response.status, 400)
      t.ok(response.body.message.startsWith(field), response.body.message)
      t.ok(response.body.details[0].path.startsWith(field))
    }
    for (const name of ['page_size', 'pageSize', 'library_id']) {
      const { body } = await admin.get(`/books?${name}=x`)
      t.match(body, {
        message: new RegExp(`^query/${name} `),
        details: [{ path: `query/${name}` }],
      })
    }
  })

  t.test('a partial scanning configuration changes what it names, in both spellings', async t => {
    const { pick, next } = createRandom(7)
    const values: Record<string, unknown[]> = {
      enabled: [true, false],
      scanMode: ['normal', 'deep'],
      cronSchedule: ['0 3 * * *', '*/5 * * * *', null],
      cronTimezone: ['Europe/Berlin', 'UTC', null],
      scanOnStart: [true, false],
      purgeDeletedOnScan: [true, false],
    }
    const snake = (name: string) =>
      name === 'scanMode' ? 'default_mode' : name.replace(/[A-Z]/g, c => `_${c.toLowerCase()}`)
    const first = await admin.patch(`/libraries/${shelf.id}`, {
      scanning_config: { enabled: true, cron_schedule: '0 1 * * *', default_mode: 'deep' },
    })
    let expected = first.body.scanningConfig
    for (let i = 0; i < 40; i++) {
      const named = Object.keys(values).filter(() => next() < 0.4)
      const change = Object.fromEntries(named.map(name => [name, pick(values[name]!)]))
      const body =
        next() < 0.5
          ? { scanningConfig: change }
          : {
              scanning_config: Object.fromEntries(
                Object.entries(change).map(([name, value]) => [snake(name), value]),
              ),
            }
      const { status, body: library } = await admin.patch(`/libraries/${shelf.id}`, body)
      t.equal(status, 200, JSON.stringify(body))
      const defaultMode = change.scanMode ?? expected.defaultMode
      expected = { ...expected, ...change, defaultMode }
      t.same(library.scanningConfig, expected, JSON.stringify(body))
    }
  })

  t.test('unlocked genres and tags of a series follow its books at once', async t => {
    const series = `/series/${(await shelf.books()).find(b => b.folder.startsWith('Spider-'))!.seriesId}`
    await admin.put(`${series}/genres`, { genres: ['Western'] })
    await admin.put(`${series}/tags`, { tags: ['sand'] })
    await admin.put(`${series}/metadata/locks`, { genres: false, tags: false })
    const { body } = await admin.get(series)
    t.same([body.genres, body.tags], [['Noir'], ['rain']])
    const condition = { genre: { operator: 'is', value: 'noir' } }
    t.equal((await admin.post('/series/list', { condition })).body.total, 1)
  })

  t.test('a taken user name or address is a conflict', async t => {
    const ana = { username: 'ana', email: 'ana@example.org', password: 'Strong-pass-1' }
    t.equal((await admin.post('/users', ana)).status, 201)
    t.equal((await admin.post('/users', { ...ana, email: 'b@example.org' })).status, 409)
    t.equal((await admin.post('/users', { ...ana, username: 'b' })).status, 409)
    const { body } = await admin.post('/users', { ...ana, username: 'c', email: 'c@example.org' })
    t.equal((await admin.patch(`/users/${body.id}`, { username: 'ANA' })).status, 409)
  })

  t.test('records have what clients of a peer require', async t => {
    const { body: series } = await admin.get(`/series/${book.seriesId}/full`)
    t.match(series, { tracked: false, externalRatings: [], metadata: { externalRatings: [] } })
    t.match((await admin.get(`/books/${book.id}`)).body.book.koreaderHash, /^[\da-f]{32}$/)
  })

  t.test('the link of a verification e-mail is a web page with a button', async t => {
    const account = await all.createUser('reader')
    const token = 'c'.repeat(64)
    await all.sql`update account set is_active = false, email_verified = false where id = ${account.id}`
    await all.sql`
      insert into email_verification (sha256, account_id, expires_at)
      values (${createHash('sha256').update(token).digest()}, ${account.id}, now() + interval '1 hour')`
    const open = async (query: string) => {
      const response = await fetch(`${all.base}/auth/verify-email?${query}`)
      const type = response.headers.get('content-type')
      return { status: response.status, type, text: await response.text() }
    }
    const type = 'text/html; charset=utf-8'
    t.match(await open(`token=${token}`), { status: 200, type, text: /<button/ })
    t.match(await open(`token=${token}`), { status: 200 }, 'opening it changes nothing')
    t.match(await open(`token=${token}&confirm=yes`), { status: 200, type, text: /is verified/ })
    t.match(await open(`token=${token}&confirm=yes`), { status: 400, type, text: /unknown/ })
    t.notMatch((await open('token="><script>')).text, /<script>/)
  })
})
