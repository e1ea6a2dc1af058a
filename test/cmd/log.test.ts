// What a server writes about a whole session: every request once, and no secret in any line.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { SMTPServer } from 'smtp-server'
import { test } from 'tap'
import { database } from '../kit/db.ts'
import { comic, folderOf, temporary } from '../kit/library.ts'

const launcher = join(import.meta.dirname, '..', '..', 'cmd', 'stackroom.mjs')
const secrets = {
  mail: 'mail-Passphrase-77',
  admin: 'admin Passphrase 91',
  changed: 'other Passphrase 92',
  wrong: 'wrong Passphrase 93',
  visitor: 'visitor Passphrase 94',
}

test('a session at the level of trace', async t => {
  const { url, sql } = await database(t)
  const file = join(temporary(t), 'log')
  const post = await mailServer()
  t.teardown(post.close)
  const { base, metrics, token, end } = await served(url, file, post.port)
  const known = new Set<string>([...Object.values(secrets), token, new URL(url).password])
  const ask = async (method: string, path: string, asking: Asking = {}) => {
    const response = await fetch(base + path, {
      method,
      headers: { 'content-type': 'application/json', ...asking.headers },
      ...(asking.body ? { body: JSON.stringify(asking.body) } : {}),
    })
    const text = await response.text()
    const body = text.startsWith('{') ? JSON.parse(text) : null
    const cookie = /auth_token=([^;]+)/.exec(response.headers.get('set-cookie') ?? '')?.[1]
    for (const one of [body?.accessToken, body?.refreshToken, body?.key, cookie])
      if (one) known.add(one)
    return { status: response.status, body, cookie, id: response.headers.get('x-request-id') }
  }

  const setup = await ask('POST', '/api/v1/setup/initialize', {
    body: { username: 'ada', email: 'ada@example.org', password: secrets.admin, setupToken: token },
    headers: { 'x-setup-token': token },
  })
  t.equal(setup.status, 201)
  const login = (password: string) =>
    ask('POST', '/api/v1/auth/login', { body: { username: 'ada', password } })
  t.equal((await login(secrets.wrong)).status, 401)
  const signedIn = await login(secrets.admin)
  const bearer = { authorization: `Bearer ${signedIn.body.accessToken}` }
  const key = await ask('POST', '/api/v1/api-keys', { body: { name: 'k' }, headers: bearer })
  t.equal(key.status, 201)
  const broken = `${key.body.key.slice(0, -4)}0000`
  const basic = Buffer.from(`ada:${secrets.admin}`).toString('base64')
  const bad = Buffer.from(`ada:${secrets.wrong}`).toString('base64')
  for (const one of [broken, basic, bad]) known.add(one)
  const tries: [number, string, Record<string, string>][] = [
    [200, '/api/v1/books', { 'x-api-key': key.body.key }],
    [200, '/api/v1/books', { authorization: `Bearer ${key.body.key}` }],
    [200, '/api/v1/books', { authorization: `Basic ${basic}` }],
    [401, '/api/v1/books', { authorization: `Basic ${bad}` }],
    [401, '/api/v1/books', { 'x-api-key': broken }],
    [401, '/api/v1/books', { authorization: `Bearer ${signedIn.body.accessToken}x` }],
    [200, '/api/v1/auth/me', { cookie: `auth_token=${signedIn.cookie}` }],
    [401, `/api/v1/books?apiKey=${key.body.key}&token=${signedIn.body.accessToken}`, {}],
    [404, `/${key.body.key}/${signedIn.body.refreshToken}?password=${secrets.admin}`, {}],
    [400, `/api/v1/%zz?api_key=${key.body.key}`, {}],
    [400, `/api/v1/books?page=${key.body.key}`, bearer],
  ]
  for (const [status, path, headers] of tries)
    t.equal((await ask('GET', path, { headers })).status, status, path.slice(0, 20))
  await ask('POST', '/api/v1/auth/refresh', {
    body: { refreshToken: signedIn.body.refreshToken },
  })
  await ask('PUT', '/api/v1/user/password', {
    headers: bearer,
    body: { currentPassword: secrets.admin, newPassword: secrets.changed },
  })

  await sql`
    insert into setting (key, value) values ('auth.registration_enabled', 'true')
    on conflict (key) do update set value = excluded.value`
  const visitor = { username: 'vic', email: 'vic@example.org', password: secrets.visitor }
  t.equal((await ask('POST', '/api/v1/auth/register', { body: visitor })).status, 201)
  const mailed = /token=3D(\w+)|token=(\w+)/.exec(post.letters[0] ?? '')
  const code = mailed?.[1] ?? mailed?.[2] ?? ''
  t.ok(code.length > 20, 'a letter came')
  known.add(code)
  post.refuse()
  await ask('POST', '/api/v1/auth/resend-verification', { body: { email: 'vic@example.org' } })
  await ask('POST', `/api/v1/auth/verify-email?token=${code}`, { body: { token: code } })

  // Work that fails, and a database that does.
  const root = folderOf(t, { 'A/1.cbz': comic({ pages: 1 }), 'A/2.cbz': Buffer.from('nothing') })
  await sql`alter table found rename to lost`
  const again = await login(secrets.changed)
  const boss = { authorization: `Bearer ${again.body.accessToken}` }
  await ask('POST', '/api/v1/libraries', {
    headers: boss,
    body: { name: 'L', path: root, scanImmediately: true },
  })
  await until(() => /scan failed|job failed/.test(readFileSync(file, 'utf8')))
  await sql`alter table lost rename to found`
  await sql`alter table refresh_token rename to gone`
  const failed = await ask('POST', '/api/v1/auth/login', {
    body: { username: 'ada', password: secrets.changed },
  })
  t.equal(failed.status, 500)
  await sql`alter table gone rename to refresh_token`
  t.equal((await fetch(`${base}/health`)).status, 200)
  t.equal((await fetch(`${metrics}/metrics`)).status, 200)
  await end()

  const text = readFileSync(file, 'utf8')
  for (const secret of known) if (secret) t.notOk(text.includes(secret), 'a secret is not there')
  t.ok(known.size > 14, 'there were secrets to look for')
  const lines = text
    .trim()
    .split('\n')
    .map(line => JSON.parse(line))
  const requests = lines.filter(line => line.msg === 'request')
  t.match(
    requests.find(line => line.requestId === key.id),
    {
      level: 30,
      method: 'POST',
      route: '/api/v1/api-keys',
      status: 201,
      ms: Number,
      userId: String,
    },
  )
  t.match(
    requests.find(line => line.requestId === failed.id),
    { route: '/api/v1/auth/login', status: 500 },
  )
  t.ok(
    lines.some(line => line.msg === 'request failed' && line.requestId === failed.id),
    'why it failed is under the same id',
  )
  t.equal(requests.find(line => line.route === '/health')?.level, 20, 'probes are for debugging')
  t.ok(requests.some(line => line.route === 'none' && line.status === 404))
})

type Asking = { body?: object; headers?: Record<string, string> }

async function served(databaseUrl: string, file: string, mailPort: number) {
  const out = openSync(file, 'a')
  const data = join(file, '..', 'data')
  const args = ['serve', '--port', '0', '--data', data, '--log-level', 'trace']
  const child = spawn(process.execPath, [launcher, ...args], {
    stdio: ['ignore', 'pipe', out],
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      STACKROOM_DATABASE_URL: databaseUrl,
      STACKROOM_METRICS__BIND: '127.0.0.1:0',
      STACKROOM_EMAIL__HOST: '127.0.0.1',
      STACKROOM_EMAIL__PORT: String(mailPort),
      STACKROOM_EMAIL__USERNAME: 'stackroom',
      STACKROOM_EMAIL__PASSWORD: secrets.mail,
      STACKROOM_EMAIL__VERIFICATION_URL_BASE: 'https://books.example.org',
      STACKROOM_AUTH__EMAIL_CONFIRMATION_REQUIRED: 'true',
    },
  })
  closeSync(out)
  let said = ''
  child.stdout!.on('data', chunk => {
    said += chunk
  })
  await until(() => /Setup token.*\n/.test(said))
  const port = /"port":(\d+),"msg":"metrics listen"/.exec(readFileSync(file, 'utf8'))?.[1]
  return {
    base: /listens on (\S+)/.exec(said)?.[1] ?? '',
    metrics: `http://127.0.0.1:${port}`,
    token: /Setup token[^:]*: (\S+)/.exec(said)?.[1] ?? '',
    async end() {
      child.kill('SIGTERM')
      await once(child, 'exit')
    },
  }
}

async function mailServer() {
  const letters: string[] = []
  let isRefusing = false
  const server = new SMTPServer({
    allowInsecureAuth: true,
    hideSTARTTLS: true,
    onAuth: ({ username }, _session, done) => done(null, { user: username }),
    onData(stream, _session, done) {
      let text = ''
      stream.on('data', chunk => {
        text += chunk
      })
      stream.on('end', () => {
        if (isRefusing) return done(new Error('mailbox full'))
        letters.push(text.replaceAll('=\r\n', ''))
        done()
      })
    },
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return {
    letters,
    port: (server.server.address() as { port: number }).port,
    refuse: () => {
      isRefusing = true
    },
    close: () => new Promise<void>(resolve => server.close(() => resolve())),
  }
}

async function until(holds: () => boolean) {
  for (let left = 600; left > 0; left--) {
    if (holds()) return
    await sleep(50)
  }
  throw new Error('it does not come')
}
