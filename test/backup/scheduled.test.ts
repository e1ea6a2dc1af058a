// Scheduled backups: written into a folder, recorded, replaced by newer ones, and honest about failures.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { runBackupJob } from '../../lib/backup/job.ts'
import { backupState, beginRecord } from '../../lib/backup/records.ts'
import { verifyBackup } from '../../lib/backup/verify.ts'
import { openLog } from '../../lib/base/log.ts'
import { loadConfig } from '../../lib/store/config/config.ts'
import { projectRoot } from '../kit/db.ts'
import { temporaryFolder } from '../kit/files/folders.ts'
import { hangingFolder } from '../kit/files/hanging-folder.ts'
import { startApi } from '../kit/server.ts'

const log = openLog({ level: 'silent' })
const folder = temporaryFolder(t)
const dir = join(folder, 'backups')
const api = await startApi(t, { 'backup.dir': dir })
const { sql, url } = api
const admin = await api.createUser('admin')
mkdirSync(dir)
mkdirSync(join(folder, 'data'))
const files = () => readdirSync(dir).filter(name => name.endsWith('.backup'))

const set = (key: string, value: unknown) => admin.put(`/admin/settings/${key}`, { value })

const run = (settings: Record<string, unknown> = {}, signal = new AbortController().signal) => {
  const flags = {
    ...{ data_dir: join(folder, 'data'), 'database.url': url, 'backup.dir': dir },
    ...settings,
  }
  const config = loadConfig({ env: {}, flags })
  return runBackupJob({ sql, config, log }, { signal })
}

t.test(
  'they are checked files; only as many as configured remain, and files of others',
  async t => {
    writeFileSync(join(dir, 'mine.backup'), 'not ours')
    await set('backup.keep', 2)
    for (let i = 0; i < 3; i++) await run()
    t.equal(files().length, 3, 'two, and the other file')
    t.ok(existsSync(join(dir, 'mine.backup')))
    for (const name of files().filter(name => name !== 'mine.backup'))
      t.match(await verifyBackup(join(dir, name)), { format: 1 })
    const { body } = await admin.get('/admin/backups')
    t.equal(body.backups.length, 2)
    t.match(body, { isFailing: false, isOverdue: false })
    t.ok(Date.parse(body.lastSuccessAt) > Date.now() - 60_000)
    t.same(
      new Set(body.backups.map((b: any) => b.file)),
      new Set(files().filter(n => n !== 'mine.backup')),
    )
  },
)

t.test('a failure is recorded with its reason and without paths, and leaves no file', async t => {
  const before = files()
  await t.rejects(
    run({ 'backup.dir': join(folder, 'none') }),
    /backup.dir cannot be opened \(ENOENT\)/,
  )
  await t.rejects(run({ 'backup.dir': join(folder, 'data') }), /must not lie in the data directory/)
  await t.rejects(
    run({ 'backup.passphrase_file': join(folder, 'none') }),
    /passphrase cannot be read/,
  )
  const { body } = await admin.get('/admin/backups')
  t.equal(body.isFailing, true)
  t.notMatch(JSON.stringify(body.backups), folder)
  t.same(files(), before)
  const metrics = await fetch(`${api.base}/metrics`, {
    headers: { accept: 'text/plain', 'x-api-key': admin.key },
  })
  t.match(await metrics.text(), /^backup_failing 1$/m)
})

t.test(
  'one that was killed is recorded as such by the next one, which removes its beginning',
  async t => {
    const file = join(dir, 'stackroom-killed.backup')
    writeFileSync(`${file}.partial`, 'PK')
    await beginRecord(sql, file)
    await run()
    t.notOk(existsSync(`${file}.partial`))
    const { body } = await admin.get('/admin/backups')
    t.ok(body.backups.some((b: any) => b.error === 'It was interrupted'))
    t.equal(body.isFailing, false)
  },
)

t.test('a stop ends it at once, without a file', async t => {
  const before = files()
  const stop = new AbortController()
  const running = run({}, stop.signal)
  setTimeout(() => stop.abort(), 30)
  await t.rejects(running, /interrupted|ended/)
  t.same(files(), before)
})

const hanging = hangingFolder(dir, temporaryFolder(t))

t.test('a folder that hangs ends it with a sentence', { skip: hanging === null }, async t => {
  const { env, hang, respond } = hanging!
  const flags = { data_dir: join(folder, 'data'), 'database.url': url, 'backup.dir': dir }
  // The probes of the folder block threads, which this process has to keep.
  const code = `
    import { runBackupJob } from '${projectRoot}/lib/backup/job.ts'
    import { openLog } from '${projectRoot}/lib/base/log.ts'
    import { loadConfig } from '${projectRoot}/lib/store/config/config.ts'
    import { createMountHealth } from '${projectRoot}/lib/store/mount/mount-health.ts'
    import { connect } from '${projectRoot}/lib/store/postgres/db.ts'
    const config = loadConfig({ env: {}, flags: ${JSON.stringify(flags)} })
    const sql = connect(config.database.url, { max: 1 })
    const health = createMountHealth({ tickMs: 50, slowMs: 100, hungTicks: 10 })
    const deps = { sql, config, log: openLog({ level: 'silent' }), health }
    await runBackupJob(deps, { signal: new AbortController().signal }).catch(error => {
      process.stdout.write(error.message)
    })
    await sql.end()`
  hang()
  t.teardown(respond)
  const child = spawn(process.execPath, ['--no-warnings', '--input-type=module', '-e', code], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.teardown(() => child.kill('SIGKILL'))
  const [message] = await once(child.stdout, 'data')
  t.equal(String(message), 'The folder backup.dir does not respond')
  const { body } = await admin.get('/admin/backups')
  t.match(body, { isFailing: true, backups: [{ error: String(message) }] })
  respond()
  await once(child, 'close')
  await run()
  t.match((await admin.get('/admin/backups')).body, { isFailing: false })
})

t.test('a missing backup is overdue six hours after its time', async t => {
  await set('backup.cron', '0 3 * * *')
  const hours = (count: number) => Date.now() + count * 3_600_000
  t.match(await backupState(sql), { isOverdue: false })
  t.match(await backupState(sql, hours(31)), { isOverdue: true })
  await set('backup.cron', '')
  t.match(await backupState(sql, hours(1000)), { isOverdue: false })
})

t.test('only administrators see and start them', async t => {
  const maintainer = await api.createUser('maintainer')
  for (const call of [maintainer.get('/admin/backups'), maintainer.post('/admin/backups')])
    t.equal((await call).status, 403)
})

t.test(
  'without a folder neither is possible, and a schedule from before fails visibly',
  async t => {
    const other = await startApi(t)
    const admin = await other.createUser('admin')
    const missing = { status: 400, body: { message: /backup.dir is not set in the configuration/ } }
    t.match(await admin.post('/admin/backups'), missing)
    const cron = { key: 'backup.cron', value: '0 3 * * *' }
    t.match(await admin.put('/admin/settings/backup.cron', { value: cron.value }), missing)
    t.match(await admin.post('/admin/settings/bulk', { updates: [cron] }), missing)
    t.match(await admin.put('/admin/settings/backup.cron', { value: '' }), { status: 200 })
    await other.sql`insert into setting (key, value) values ('backup.cron', '"0 3 * * *"')`
    const config = loadConfig({ env: {}, flags: { data_dir: join(folder, 'data') } })
    const control = { signal: new AbortController().signal }
    await t.rejects(runBackupJob({ sql: other.sql, config, log }, control), /backup.dir is not set/)
    t.match((await admin.get('/admin/backups')).body, {
      folder: null,
      schedule: '0 3 * * *',
      isFailing: true,
      backups: [{ error: /^backup.dir is not set in the configuration/ }],
    })
  },
)
