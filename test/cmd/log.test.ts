// Log of a whole session at trace level: every request once, and no secret.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { SMTPServer } from 'smtp-server'
import { test } from 'tap'
import { createDatabase } from '../kit/db.ts'
import { folderWithFiles, temporaryFolder } from '../kit/files/folders.ts'
import { comic } from '../kit/library.ts'
import { waitUntil } from '../kit/processes.ts'

const launcher = join(import.meta.dirname, '..', '..', 'cmd', 'stackroom.mjs')
const secrets = {
  mail: 'mail-Passphrase-77',
  admin: 'admin Passphrase 91',
  changed: 'other Passphrase 92',
  wrong: 'wrong Passphrase 93',
  visitor: 'visitor Passphrase 94',
}

test('a session at trace level', async t => {
  const { url, sql } = await createDatabase(t)
  const file = join(temporaryFolder(t), 'log')
  const mail = await startMailServer()
  t.teardown(mail.close)
  const { base, metrics, token, stop } = await startServer(url, file, mail.port)
  const secretValues = new Set<string>([...Object.values(secrets), token, new URL(url).password])
  const request = async (method: string, path: string, options: RequestParts = {}) => {
    const response = await fetch(base + path, {
      method,
      headers: { 'content-type': 'application/json', ...options.headers },
      ...(options.body ? { body: JSON.stringify(options.body) } : {}),
    })
    const text = await response.text()
    const body = text.startsWith('{') ? JSON.parse(text) : null
    const cookie = /auth_token=([^;]+)/.exec(response.headers.get('set-cookie') ?? '')?.[1]
    for (const value of [body?.accessToken, body?.refreshToken, body?.key, cookie])
      if (value) secretValues.add(value)
    return { status: response.status, body, cookie, id: response.headers.get('x-request-id') }
  }

  const setup = await request('POST', '/api/v1/setup/initialize', {
    body: { username: 'ada', email: 'ada@example.org', password: secrets.admin, setupToken: token },
    headers: { 'x-setup-token': token },
  })
  t.equal(setup.status, 201)
  const login = (password: string) =>
    request('POST', '/api/v1/auth/login', { body: { username: 'ada', password } })
  t.equal((await login(secrets.wrong)).status, 401)
  const signedIn = await login(secrets.admin)
  const bearer = { authorization: `Bearer ${signedIn.body.accessToken}` }
  const key = await request('POST', '/api/v1/api-keys', { body: { name: 'k' }, headers: bearer })
  t.equal(key.status, 201)
  const broken = `${key.body.key.slice(0, -4)}0000`
  const basic = Buffer.from(`ada:${secrets.admin}`).toString('base64')
  const bad = Buffer.from(`ada:${secrets.wrong}`).toString('base64')
  for (const value of [broken, basic, bad]) secretValues.add(value)
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
    t.equal((await request('GET', path, { headers })).status, status, path.slice(0, 20))
  await request('POST', '/api/v1/auth/refresh', {
    body: { refreshToken: signedIn.body.refreshToken },
  })
  await request('PUT', '/api/v1/user/password', {
    headers: bearer,
    body: { currentPassword: secrets.admin, newPassword: secrets.changed },
  })

  await sql`
    insert into setting (key, value) values ('auth.registration_enabled', 'true')
    on conflict (key) do update set value = excluded.value`
  const visitor = { username: 'vic', email: 'vic@example.org', password: secrets.visitor }
  t.equal((await request('POST', '/api/v1/auth/register', { body: visitor })).status, 201)
  const mailed = /token=3D(\w+)|token=(\w+)/.exec(mail.messages[0] ?? '')
  const code = mailed?.[1] ?? mailed?.[2] ?? ''
  t.ok(code.length > 20, 'a mail was received')
  secretValues.add(code)
  mail.rejectMail()
  await request('POST', '/api/v1/auth/resend-verification', { body: { email: 'vic@example.org' } })
  await request('POST', `/api/v1/auth/verify-email?token=${code}`, { body: { token: code } })

  // A failing job and a failing statement.
  const root = folderWithFiles(t, {
    'A/1.cbz': comic({ pages: 1 }),
    'A/2.cbz': Buffer.from('nothing'),
  })
  await sql`alter table pending_file rename to lost`
  const secondSignIn = await login(secrets.changed)
  const adminHeaders = { authorization: `Bearer ${secondSignIn.body.accessToken}` }
  await request('POST', '/api/v1/libraries', {
    headers: adminHeaders,
    body: { name: 'L', path: root, scanImmediately: true },
  })
  await waitUntil(() => /scan failed|job failed/.test(readFileSync(file, 'utf8')))
  await sql`alter table lost rename to found`
  await sql`alter table refresh_token rename to gone`
  const failed = await request('POST', '/api/v1/auth/login', {
    body: { username: 'ada', password: secrets.changed },
  })
  t.equal(failed.status, 500)
  await sql`alter table gone rename to refresh_token`
  t.equal((await fetch(`${base}/health`)).status, 200)
  t.equal((await fetch(`${metrics}/metrics`)).status, 200)
  await stop()

  const text = readFileSync(file, 'utf8')
  for (const secret of secretValues)
    if (secret) t.notOk(text.includes(secret), 'no secret is logged')
  t.ok(secretValues.size > 14, 'there are enough secrets to test')
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
    'the error has the same request id',
  )
  t.equal(
    requests.find(line => line.route === '/health')?.level,
    20,
    'health checks are logged at debug level',
  )
  t.equal(requests.find(line => line.route === 'none' && line.status === 404)?.level, 30)
})

type RequestParts = { body?: object; headers?: Record<string, string> }

async function startServer(databaseUrl: string, file: string, mailPort: number) {
  const out = openSync(file, 'a')
  const data = join(file, '..', 'data')
  const args = ['serve', '--port', '0', '--data', data, '--log-level', 'trace']
  const child = spawn(process.execPath, [launcher, ...args], {
    stdio: ['ignore', 'pipe', out],
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      STACKROOM_WEB__ENABLED: 'false',
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
  let output = ''
  child.stdout!.on('data', chunk => {
    output += chunk
  })
  await waitUntil(() => /Setup token.*\n/.test(output))
  const port = /"port":(\d+),"msg":"metrics server listening"/.exec(readFileSync(file, 'utf8'))?.[1]
  return {
    base: /listening on (\S+)/.exec(output)?.[1] ?? '',
    metrics: `http://127.0.0.1:${port}`,
    token: /Setup token[^:]*: (\S+)/.exec(output)?.[1] ?? '',
    async stop() {
      child.kill('SIGTERM')
      await once(child, 'exit')
    },
  }
}

async function startMailServer() {
  const messages: string[] = []
  let isRejecting = false
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
        if (isRejecting) return done(new Error('mailbox full'))
        messages.push(text.replaceAll('=\r\n', ''))
        done()
      })
    },
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return {
    messages,
    port: (server.server.address() as { port: number }).port,
    rejectMail: () => {
      isRejecting = true
    },
    close: () => new Promise<void>(resolve => server.close(() => resolve())),
  }
}
