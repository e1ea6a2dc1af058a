// Several processes of one installation: settings, reload, shutdown, scan on start.
import { execFileSync } from 'node:child_process'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { findOrCreateLibrary } from '../../lib/catalog/library/library-write.ts'
import { folderWithFiles, temporaryFolder } from '../kit/files/folders.ts'
import { comicFiles } from '../kit/library.ts'
import { processes, waitUntil } from '../kit/processes.ts'

const json = { 'content-type': 'application/json' }

// Each has an installation of its own, and waits most of the time.
t.jobs = 3

t.test('a setting takes effect in every process', async t => {
  const { serve, admin } = await processes(t)
  const headers = await admin()
  const [first, second] = await Promise.all([serve('--no-workers'), serve('--no-workers')])
  const name = async (base: string) =>
    ((await (await fetch(`${base}/api/v1/settings/branding`)).json()) as any).applicationName
  t.equal(await name(first!.base), 'Stackroom')
  t.equal(await name(second!.base), 'Stackroom')
  for (const value of ['Shelf', 'Attic', 'Cellar']) {
    const response = await fetch(`${first!.base}/api/v1/admin/settings/application.name`, {
      method: 'PUT',
      headers: { ...headers, ...json },
      body: JSON.stringify({ value }),
    })
    t.equal(response.status, 200)
    t.equal(await name(first!.base), value)
    // There is no polling: only the notification of the change can be the reason.
    await waitUntil(async () => (await name(second!.base)) === value)
  }
})

t.test('SIGHUP reloads the configuration without failing requests', async t => {
  const { serve, admin } = await processes(t)
  const headers = await admin()
  const file = join(temporaryFolder(t), 'stackroom.yaml')
  const configure = (text: string) => writeFileSync(file, text)
  configure('logging:\n  level: warn\n')
  const { child, output, base, terminate } = await serve('--no-workers', '--config', file)
  const reload = async (message = /configuration (not )?reloaded|restart/) => {
    const before = output.stderr.length
    child.kill('SIGHUP')
    // Whole lines.
    await waitUntil(() => message.test(output.stderr.slice(before).replace(/[^\n]*$/, '')))
    return output.stderr.slice(before)
  }
  configure('logging:\n  level: info\n')
  t.match(await reload(), /"changed":\["logging\.level"\]/, 'the level is in effect')

  configure('logging:\n  level: info\napi:\n  cors_origins: https://a.example\n  upload_mb: 7\n')
  t.match(
    await reload(/restart required/),
    /cors_origins[^\n]+\n.*api\.upload_mb.*restart required/,
  )
  const cors = await fetch(`${base}/api/v1/info`, { headers: { origin: 'https://a.example' } })
  t.equal(cors.headers.get('access-control-allow-origin'), 'https://a.example')

  configure('logging:\n  level: loud\napi:\n  cors_origins: "*"\n')
  t.match(await reload(), /logging\.level .+must be one of.+configuration not reloaded/s)
  const still = await fetch(`${base}/api/v1/info`, { headers: { origin: 'https://b.example' } })
  t.not(still.headers.get('access-control-allow-origin'), '*', 'a broken file changes nothing')

  let requests = 0
  const failed: unknown[] = []
  let stopping = false
  const requestUntilStopped = async (path: string) => {
    while (!stopping) {
      requests += 1
      const status = await fetch(`${base}${path}`, { headers }).then(
        response => response.text().then(() => response.status),
        error => error,
      )
      if (status !== 200) failed.push(status)
    }
  }
  const clients = ['/api/v1/books', '/api/v1/series', '/health', '/api/v1/user'].map(
    requestUntilStopped,
  )
  // A busy machine needs longer for that many requests.
  for (let i = 0; i < 30 || (requests <= 100 && i < 2_000); i++) {
    configure(
      `logging:\n  level: ${i % 2 ? 'error' : 'warn'}\nrate_limit:\n  enabled: false\n  authenticated_rps: ${i + 1}\n`,
    )
    child.kill('SIGHUP')
    await sleep(20)
  }
  stopping = true
  await Promise.all(clients)
  t.same(failed, [])
  t.ok(requests > 100, `${requests} requests`)
  t.equal((await terminate()).code, 0)
})

t.test('after SIGTERM it is not ready, but serves until the drain time is over', async t => {
  const { serve, admin } = await processes(t)
  const headers = await admin()
  const file = join(temporaryFolder(t), 'stackroom.yaml')
  writeFileSync(file, 'application:\n  drain_seconds: 3\n')
  // A signal while workers still start ends the start.
  const { base, terminate } = await serve('--no-workers', '--config', file)
  for (const path of ['/health', '/health/ready', '/health/live', '/health/startup']) {
    const response = await fetch(base + path)
    t.equal(response.status, 200, path)
    t.not(response.headers.get('connection'), 'close')
  }
  const sentAt = Date.now()
  const termination = terminate()
  // On a busy machine the time may be over before a request arrives.
  const whileServing = (path: string, init: RequestInit = {}) =>
    fetch(base + path, init).catch(error => {
      if (Date.now() - sentAt < 2_900) throw error
      return null
    })
  await waitUntil(async () => ((await whileServing('/health/ready'))?.status ?? 503) === 503)
  t.equal((await whileServing('/health/live'))?.status ?? 200, 200)
  for (let i = 0; i < 5; i++) {
    const response = await whileServing('/api/v1/books', { headers })
    if (!response) break
    t.equal(response.status, 200)
    t.equal(response.headers.get('connection'), 'close')
    await response.text()
  }
  const { code, ms } = await termination
  t.equal(code, 0)
  t.ok(ms >= 2_900, `${ms} ms`)
})

t.test('an unresponsive disk does not prevent the shutdown', async t => {
  const { sql, serve, worker, admin } = await processes(t)
  const headers = await admin()
  const root = folderWithFiles(t, comicFiles(3))
  const { id } = await findOrCreateLibrary(sql, { root: Buffer.from(root) })
  const serving = await serve('--no-workers')
  const working = await worker()
  const post = (path: string) =>
    fetch(`${serving.base}/api/v1${path}`, { method: 'POST', headers: { ...headers, ...json } })
  t.ok((await post(`/libraries/${id}/scan`)).ok)
  await waitUntil(async () => (await sql`select 1 from scan where state = 'completed'`).length > 0)
  // Opening a FIFO waits for a writer, like a file on an unresponsive network disk.
  const [book] = await sql<{ id: string; name: Buffer; path: Buffer }[]>`
    select b.id, b.name, d.path from book b join directory d on d.id = b.directory_id
    order by b.id limit 1`
  const file = join(root, book!.path.toString(), book!.name.toString())
  rmSync(file)
  execFileSync('mkfifo', [file])
  t.ok((await post(`/books/${book!.id}/analyze`)).ok)
  const page = fetch(`${serving.base}/api/v1/books/${book!.id}/pages/1`, { headers }).then(
    response => response.status,
    () => 'ended',
  )
  await waitUntil(
    async () =>
      (await sql`select 1 from pgboss.job where name = 'index' and state = 'active'`).length > 0,
  )
  await sleep(500)
  const [server, workerExit] = await Promise.all([serving.terminate(), working.terminate()])
  t.comment(
    `serve ended after ${server.ms} ms, worker after ${workerExit.ms} ms; the page: ${await page}`,
  )
  t.match([server, workerExit], [{ code: 0 }, { code: 0 }])
  t.ok(Math.max(server.ms, workerExit.ms) < 90_000, 'although a page request is pending')
  const jobs = await sql`select 1 from pgboss.job where name = 'index' and state = 'active'`
  t.equal(jobs.length, 0, 'the job was returned to the queue')
})

t.test('only the first worker process scans libraries on start', async t => {
  const { sql, serve, worker } = await processes(t)
  const { id } = await findOrCreateLibrary(sql, {
    root: Buffer.from(folderWithFiles(t, comicFiles(3))),
  })
  await sql`
    update library set scanning_config = ${sql.json({ enabled: true, scanOnStart: true })}
    where id = ${id}`
  const scans = async () =>
    (await sql<{ state: string }[]>`select state from scan order by created_at`).map(s => s.state)
  await serve('--no-workers')
  t.same(await scans(), [], 'there is no worker yet')
  const first = await worker()
  await waitUntil(async () => (await scans())[0] === 'completed')
  const second = await worker()
  t.equal((await first.terminate()).code, 0)
  const third = await worker()
  t.equal((await second.terminate()).code, 0)
  t.same(await scans(), ['completed'], 'overlapping workers are not a start')
  t.equal((await third.terminate()).code, 0)
  await worker()
  await waitUntil(async () => (await scans()).length === 2)
})
