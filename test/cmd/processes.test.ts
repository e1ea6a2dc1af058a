// Several processes of one installation: what one is told the others follow, and how each of them ends.
import { execFileSync } from 'node:child_process'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { createLibrary } from '../../lib/catalog/library/library.ts'
import { folderOf, manyComics, temporary } from '../kit/library.ts'
import { processes, until } from '../kit/processes.ts'

const json = { 'content-type': 'application/json' }

t.test('a setting acts in every process within a second', async t => {
  const { serve, admin } = await processes(t)
  const headers = await admin()
  const [one, other] = await Promise.all([serve('--no-workers'), serve('--no-workers')])
  const name = async (base: string) =>
    ((await (await fetch(`${base}/api/v1/settings/branding`)).json()) as any).applicationName
  t.equal(await name(one!.base), 'Stackroom')
  t.equal(await name(other!.base), 'Stackroom')
  const waits: number[] = []
  for (const value of ['Shelf', 'Attic', 'Cellar']) {
    const response = await fetch(`${one!.base}/api/v1/admin/settings/application.name`, {
      method: 'PUT',
      headers: { ...headers, ...json },
      body: JSON.stringify({ value }),
    })
    t.equal(response.status, 200)
    const at = Date.now()
    t.equal(await name(one!.base), value)
    await until(async () => (await name(other!.base)) === value, 5)
    waits.push(Date.now() - at)
  }
  t.ok(waits.toSorted((a, b) => a - b)[1]! < 1000, `${waits} ms`)
})

t.test('SIGHUP reads the configuration again, and nobody notices', async t => {
  const { serve, admin } = await processes(t)
  const headers = await admin()
  const file = join(temporary(t), 'stackroom.yaml')
  const configure = (text: string) => writeFileSync(file, text)
  configure('logging:\n  level: warn\n')
  const { child, said, base, end } = await serve('--no-workers', '--config', file)
  const reloaded = async (told = /configuration (not )?reloaded|restart/) => {
    const before = said.stderr.length
    child.kill('SIGHUP')
    await until(() => told.test(said.stderr.slice(before)), 5)
    return said.stderr.slice(before)
  }
  configure('logging:\n  level: info\n')
  t.match(await reloaded(), /"changed":\["logging\.level"\]/, 'the level acts at once')

  configure('logging:\n  level: info\napi:\n  cors_origins: https://a.example\n  upload_mb: 7\n')
  t.match(
    await reloaded(/needs a restart/),
    /cors_origins[^\n]+\n.*needs a restart: api\.upload_mb/,
  )
  const cors = await fetch(`${base}/api/v1/info`, { headers: { origin: 'https://a.example' } })
  t.equal(cors.headers.get('access-control-allow-origin'), 'https://a.example')

  configure('logging:\n  level: loud\napi:\n  cors_origins: "*"\n')
  t.match(await reloaded(), /logging\.level .+must be one of.+nothing has changed/s)
  const still = await fetch(`${base}/api/v1/info`, { headers: { origin: 'https://b.example' } })
  t.not(still.headers.get('access-control-allow-origin'), '*', 'a broken file changes nothing')

  let asked = 0
  const failed: unknown[] = []
  let stopping = false
  const ask = async (path: string) => {
    while (!stopping) {
      asked += 1
      const status = await fetch(`${base}${path}`, { headers }).then(
        response => response.text().then(() => response.status),
        error => error,
      )
      if (status !== 200) failed.push(status)
    }
  }
  const askers = ['/api/v1/books', '/api/v1/series', '/health', '/api/v1/user'].map(ask)
  // A busy machine needs longer to ask so often.
  for (let i = 0; i < 100 || (asked <= 100 && i < 2_000); i++) {
    configure(
      `logging:\n  level: ${i % 2 ? 'error' : 'warn'}\nrate_limit:\n  enabled: false\n  authenticated_rps: ${i + 1}\n`,
    )
    child.kill('SIGHUP')
    await sleep(20)
  }
  stopping = true
  await Promise.all(askers)
  t.same(failed, [])
  t.ok(asked > 100, `${asked} requests`)
  t.comment(`${asked} requests during 100 reloads`)
  t.equal((await end()).code, 0)
})

t.test('told to end it says so, and serves on until others have noticed', async t => {
  const { serve, admin } = await processes(t)
  const headers = await admin()
  const file = join(temporary(t), 'stackroom.yaml')
  writeFileSync(file, 'application:\n  drain_seconds: 2\n')
  const { base, end } = await serve('--config', file)
  for (const path of ['/health', '/health/ready', '/health/live', '/health/startup']) {
    const response = await fetch(base + path)
    t.equal(response.status, 200, path)
    t.not(response.headers.get('connection'), 'close')
  }
  const ended = end()
  await sleep(200)
  t.equal((await fetch(`${base}/health/ready`)).status, 503)
  t.equal((await fetch(`${base}/health/live`)).status, 200)
  let served = 0
  for (const stop = Date.now() + 1200; Date.now() < stop; ) {
    const response = await fetch(`${base}/api/v1/books`, { headers })
    t.equal(response.status, 200)
    t.equal(response.headers.get('connection'), 'close')
    await response.text()
    served += 1
    await sleep(50)
  }
  t.ok(served > 0)
  const { code, ms } = await ended
  t.equal(code, 0)
  t.ok(ms >= 2000 && ms < 8000, `${ms} ms`)
})

t.test('a disk that does not answer keeps no process from ending', async t => {
  const { sql, serve, worker, admin } = await processes(t)
  const headers = await admin()
  const root = folderOf(t, manyComics(3))
  const { id } = await createLibrary(sql, { root: Buffer.from(root) })
  const serving = await serve('--no-workers')
  const working = await worker()
  const post = (path: string) =>
    fetch(`${serving.base}/api/v1${path}`, { method: 'POST', headers: { ...headers, ...json } })
  t.ok((await post(`/libraries/${id}/scan`)).ok)
  await until(async () => (await sql`select 1 from scan where state = 'completed'`).length > 0)
  // Opening it waits for a writer who never comes, as a network disk that is away does.
  const [book] = await sql<{ id: string; name: Buffer; path: Buffer }[]>`
    select b.id, b.name, d.path from book b join directory d on d.id = b.directory_id
    order by b.id limit 1`
  const place = join(root, book!.path.toString(), book!.name.toString())
  rmSync(place)
  execFileSync('mkfifo', [place])
  t.ok((await post(`/books/${book!.id}/analyze`)).ok)
  const page = fetch(`${serving.base}/api/v1/books/${book!.id}/pages/1`, { headers }).then(
    response => response.status,
    () => 'ended',
  )
  await until(
    async () =>
      (await sql`select 1 from pgboss.job where name = 'index' and state = 'active'`).length > 0,
  )
  await sleep(500)
  const [one, other] = await Promise.all([serving.end(), working.end()])
  t.comment(`serve ended after ${one.ms} ms, worker after ${other.ms} ms; the page: ${await page}`)
  t.match([one, other], [{ code: 0 }, { code: 0 }])
  t.ok(other.ms < 15_000)
  t.ok(one.ms < 30_000, 'someone still waits for a page')
  const jobs = await sql`select 1 from pgboss.job where name = 'index' and state = 'active'`
  t.equal(jobs.length, 0, 'the work was given back')
})

t.test('only the first process that works scans what is to be scanned at the start', async t => {
  const { sql, serve, worker } = await processes(t)
  const { id } = await createLibrary(sql, { root: Buffer.from(folderOf(t, manyComics(3))) })
  await sql`
    update library set scanning_config = ${sql.json({ enabled: true, scanOnStart: true })}
    where id = ${id}`
  const scans = async () =>
    (await sql<{ state: string }[]>`select state from scan order by created_at`).map(s => s.state)
  await serve('--no-workers')
  t.same(await scans(), [], 'nobody works yet')
  const first = await worker()
  await until(async () => (await scans())[0] === 'completed')
  const second = await worker()
  t.equal((await first.end()).code, 0)
  const third = await worker()
  t.equal((await second.end()).code, 0)
  t.same(await scans(), ['completed'], 'one after the other is no start')
  t.equal((await third.end()).code, 0)
  await worker()
  await until(async () => (await scans()).length === 2)
})
