// Secrets in the database: none is readable in it, another key file loses nothing, and rotation can be interrupted.
import { copyFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { createAccessTokens } from '../../../lib/accounts/token.ts'
import { newId } from '../../../lib/base/id.ts'
import type { Sql } from '../../../lib/store/postgres/db.ts'
import { newSecretKey, readKeys, writeKeys } from '../../../lib/store/secret/key-file.ts'
import { secretsIn } from '../../../lib/store/secret/secrets.ts'
import { checkSecrets, rotateSecrets } from '../../../lib/store/secret/stored.ts'
import { createClient } from '../../kit/http/client.ts'
import { startApiWithoutPipeline } from '../../kit/server.ts'
import { useClock } from '../../kit/suite/clock.ts'

/** All that a dump of the database would have. */
async function dump(sql: Sql): Promise<string> {
  const tables = await sql<{ name: string }[]>`
    select quote_ident(table_schema) || '.' || quote_ident(table_name) as name
    from information_schema.tables
    where table_schema not in ('pg_catalog', 'information_schema') and table_type = 'BASE TABLE'`
  const texts = await Promise.all(
    tables.map(async ({ name }) => {
      const rows = await sql.unsafe<{ row: string }[]>(`select t::text as row from ${name} t`)
      return rows.map(({ row }) => row).join('\n')
    }),
  )
  return texts.join('\n')
}

const url = 'https://feed.example/books.xml'
const start = async (t: Parameters<typeof startApiWithoutPipeline>[0]) => {
  const all = await startApiWithoutPipeline(t)
  const admin = await all.createUser('admin')
  const file = join(all.config.data_dir, 'stackroom.keys')
  const create = async (name: string, credentials: object) => {
    const body = { type: 'feed', name, config: { url }, credentials, enabled: true }
    return (await admin.post('/admin/sources', body)).body
  }
  return { ...all, admin, file, create }
}

t.test('a dump of the database has no secret', async t => {
  const { sql, admin, anonymous, create, file } = await start(t)
  const marks = ['marked-key-7f3a', 'marked-cookie-91bd', 'marked password 5c1e']
  const { id } = await create('feed', { 'X-Api-Key': marks[0] })
  await admin.patch(`/admin/sources/${id}`, { credentials: { Cookie: marks[1] } })
  const signIn = { username: 'ana', password: marks[2] }
  await admin.post('/users', { ...signIn, email: 'ana@example.org' })
  const { body } = await anonymous.post('/auth/login', signIn)
  const { body: key } = await admin.post('/api-keys', { name: 'k' })
  const text = await dump(sql)
  t.ok(text.includes('X-Api-Key'), 'names of credentials are there')
  const tokens = [body.accessToken, body.refreshToken, key.key]
  for (const secret of [
    ...marks,
    ...tokens,
    ...readKeys(file).map(k => k.bytes.toString('base64url')),
  ]) {
    t.type(secret, 'string')
    t.notOk(text.includes(secret!), 'a secret')
    t.notOk(text.includes(Buffer.from(secret!).toString('base64').slice(0, -4)), 'encoded')
  }
  const [row] = await sql<{ value: { secret: string }[] }[]>`
    select value from setting where key = 'jwt_keys'`
  for (const { secret } of row!.value) t.match(secret, /^v1\.[0-9a-f]{16}\./)
  t.same((await admin.get(`/admin/sources/${id}`)).body.credentialNames, ['Cookie', 'X-Api-Key'])
})

t.test('with another key the rest stays, and the right file restores all', async t => {
  const { sql, file, create } = await start(t)
  const right = secretsIn(file)
  t.equal(await checkSecrets(sql, right), null, 'a new database')
  const [one, two] = [
    await create('one', { Cookie: 'a=1' }),
    await create('two', { Cookie: 'b=2' }),
  ]
  const plain = await create('plain', {})
  const account = { id: newId(), username: 'ana', role: 'reader' }
  const tokensOf = (secrets: typeof right) => createAccessTokens(sql, secrets, { minutes: 60 })
  const { token } = await tokensOf(right).sign(account, newId())
  copyFileSync(file, `${file}.copy`)

  rmSync(file)
  writeKeys(file, [newSecretKey()])
  const wrong = secretsIn(file)
  t.same(await checkSecrets(sql, wrong), { sources: ['one', 'two'], signingKeys: true })
  await t.rejects(rotateSecrets(sql, wrong), { message: /encrypted with a key that is not in/ })
  await t.rejects(tokensOf(wrong).verify(token), 'tokens of the other key')
  const renewed = await tokensOf(wrong).sign(account, newId())
  t.ok(await tokensOf(wrong).verify(renewed.token), 'new ones are signed')
  t.same(await checkSecrets(sql, wrong), { sources: ['one', 'two'], signingKeys: false })

  copyFileSync(`${file}.copy`, file)
  t.equal(await checkSecrets(sql, secretsIn(file)), null)
  t.ok(await tokensOf(secretsIn(file)).verify(token), 'the right file again')

  t.same(readKeys(file).length, 1)
  t.ok([one, two, plain].every(source => source.unreadableCredentials.length === 0))
})

t.test('without credentials a key file that returns is no reason for a message', async t => {
  const { sql, file } = await start(t)
  const account = { id: newId(), username: 'ana', role: 'reader' }
  const signAndCheck = async () => {
    const secrets = secretsIn(file)
    const lost = await checkSecrets(sql, secrets)
    await (await createAccessTokens(sql, secrets, { minutes: 60 })).sign(account, newId())
    return lost
  }
  t.equal(await signAndCheck(), null)
  copyFileSync(file, `${file}.copy`)
  writeKeys(file, [newSecretKey()])
  t.same(await signAndCheck(), { sources: [], signingKeys: true })
  copyFileSync(`${file}.copy`, file)
  t.equal(await signAndCheck(), null)
})

t.test('a source without its credentials is off until they are entered again', async t => {
  const { sql, admin, file, create, startAnother } = await start(t)
  await checkSecrets(sql, secretsIn(file))
  const [one, two] = [
    await create('one', { Cookie: 'a=1' }),
    await create('two', { Cookie: 'b=2' }),
  ]
  const plain = await create('plain', {})
  copyFileSync(file, `${file}.copy`)
  const another = async () => {
    const { base } = await startAnother()
    const { get, patch, post } = createClient(base, { 'x-api-key': admin.key })
    const path = (id: string) => `/admin/sources/${id}`
    return {
      shown: async (id: string) => (await get(path(id))).body,
      enter: (id: string) => patch(path(id), { credentials: { Cookie: 'c=3' } }),
      test: async (id: string) => (await post(`${path(id)}/test`)).body,
    }
  }
  writeKeys(file, [newSecretKey()])
  const lost = await another()
  t.match(await lost.shown(one.id), {
    ...{ enabled: true, health: 'unhealthy', credentialNames: [] },
    ...{ unreadableCredentials: ['Cookie'], lastError: /one: the credentials Cookie .* again/ },
  })
  t.match(await lost.test(one.id), { success: false, message: /enter them again/ })
  t.match(await lost.shown(one.id), { failures: 0, retryAt: null }, 'no failure of the source')
  t.match(await lost.shown(plain.id), { health: 'healthy', unreadableCredentials: [] })
  t.equal((await lost.enter(one.id)).status, 200)
  t.match(await lost.shown(one.id), {
    ...{ health: 'healthy', lastError: null, credentialNames: ['Cookie'] },
    unreadableCredentials: [],
  })

  copyFileSync(`${file}.copy`, file)
  const back = await another()
  t.match(await back.shown(two.id), { health: 'healthy', credentialNames: ['Cookie'] })
  t.match(await back.shown(one.id), { unreadableCredentials: ['Cookie'] })
})

t.test('a ciphertext does not serve in another place', async t => {
  const { sql, create, admin } = await start(t)
  const [one, two] = [await create('one', { Cookie: 'a=1' }), await create('two', { Other: 'x' })]
  await sql`
    update source set credentials = (select credentials from source where id = ${one.id})
    where id = ${two.id}`
  t.same((await admin.get(`/admin/sources/${two.id}`)).body.unreadableCredentials, ['Cookie'])
})

t.test('keys are rotated while a server runs, and after interruptions', async t => {
  const { sql, file, create, admin, base, anonymous } = await start(t)
  const advance = useClock(t)
  await checkSecrets(sql, secretsIn(file))
  const signIn = { username: 'ana', password: 'correct horse battery' }
  await admin.post('/users', { ...signIn, email: 'ana@example.org' })
  const { body } = await anonymous.post('/auth/login', signIn)
  const session = createClient(base, { authorization: `Bearer ${body.accessToken}` })
  const ids = [(await create('s0', { Cookie: 'a=0' })).id]
  const isComplete = async (name: string) => {
    // The process last read the file a moment ago.
    advance(1_100)
    for (const id of ids)
      t.match((await admin.get(`/admin/sources/${id}`)).body, { credentialNames: ['Cookie'] }, name)
    t.equal(await checkSecrets(sql, secretsIn(file)), null, name)
    t.match(await session.get('/user'), { status: 200, body: { username: 'ana' } }, name)
    ids.push((await create(`s${ids.length}`, { Cookie: 'a=1' })).id)
  }
  const [first] = readKeys(file)
  t.same(await rotateSecrets(sql, secretsIn(file)), { sources: [], signingKeys: false })
  const [second, ...others] = readKeys(file)
  t.not(second!.id, first!.id)
  t.same(others, [], 'the old key is gone')
  await isComplete('rotated')

  // Killed after the new key was stored, and before anything was encrypted with it.
  const third = newSecretKey()
  writeKeys(file, [third, second!])
  await isComplete('between file and database')
  await rotateSecrets(sql, secretsIn(file))
  t.same(
    readKeys(file).map(key => key.id),
    [third.id],
    'it goes on with the same key',
  )
  await isComplete('after the first interruption')

  // Killed before the old key was removed.
  writeKeys(file, [third, second!])
  await isComplete('before the removal')
  await rotateSecrets(sql, secretsIn(file))
  t.equal(readKeys(file).length, 1)
  await isComplete('after the second interruption')

  await Promise.all([1, 2, 3].map(() => rotateSecrets(sql, secretsIn(file))))
  t.equal(readKeys(file).length, 1)
  await isComplete('several at once')
})

t.test('secrets that were stored as they are become encrypted', async t => {
  const { sql, file, create, admin } = await start(t)
  const { id } = await create('one', {})
  await sql`update source set credentials = '{"Cookie": "plain=1"}' where id = ${id}`
  t.equal(await checkSecrets(sql, secretsIn(file)), null)
  t.notMatch(await dump(sql), /plain=1/)
  t.same((await admin.get(`/admin/sources/${id}`)).body.credentialNames, ['Cookie'])
})
