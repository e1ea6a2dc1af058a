// Scheduler: each slot once in all processes, changes at once, no slots before a change.
import t, { type Test } from 'tap'
import { openLog } from '../../../lib/base/log.ts'
import { findOrCreateLibrary } from '../../../lib/catalog/library/library-write.ts'
import { requestScan } from '../../../lib/catalog/scan/scan-request.ts'
import { connect } from '../../../lib/store/postgres/db.ts'
import { openQueue } from '../../../lib/store/queue/queue.ts'
import { readSchedule } from '../../../lib/store/schedule/plan.ts'
import { scanOnStart } from '../../../lib/store/schedule/scan.ts'
import { startScheduler } from '../../../lib/store/schedule/scheduler.ts'
import type { SettingKey } from '../../../lib/store/setting/definition.ts'
import { writeSettings } from '../../../lib/store/setting/setting.ts'
import { createDatabase } from '../../kit/db.ts'
import { temporaryFolder } from '../../kit/files/folders.ts'
import { waitUntil } from '../../kit/processes.ts'
import { insertReleaseSource } from '../../kit/releases/polls.ts'

const log = openLog({ level: 'fatal' })

/** A database with a queue; `process()` starts a scheduler as another process would. */
async function installation(t: Test) {
  const { sql, url } = await createDatabase(t)
  const queue = await openQueue(sql, () => {})
  t.teardown(() => queue.close())
  // Changes are dated by the clock of the database, so these clocks run as fast, with an offset.
  let shiftMs = 0
  const clock = () => Date.now() + shiftMs
  async function process(everyMinute?: () => Promise<unknown>) {
    const own = connect(url, { max: 4 })
    const scheduler = await startScheduler({
      sql: own,
      queue,
      log,
      clock,
      ...(everyMinute ? { everyMinute } : {}),
    })
    const close = async () => {
      await scheduler.close()
      await own.end({ timeout: 1 })
    }
    t.teardown(close)
    return { close }
  }
  const [account] = await sql<{ id: string }[]>`
    insert into account (id, username, email, password_hash, role)
    values (gen_random_uuid(), 'root', 'r@example.org', '-', 'admin') returning id`
  return {
    sql,
    queue,
    process,
    clock,
    setClock(iso: string) {
      shiftMs = Date.parse(iso) - Date.now()
    },
    /** Dates all schedules back. */
    async backdate() {
      await sql`alter table library disable trigger user`
      await sql`update library set schedule_changed_at = '2000-01-01'`
      await sql`alter table library enable trigger user`
      await sql`update setting set updated_at = '2000-01-01'`
      await sql`update schema_migration set applied_at = '2000-01-01'`
    },
    async library(scanning: Record<string, unknown>) {
      const { id } = await findOrCreateLibrary(sql, { root: Buffer.from(temporaryFolder(t)) })
      await sql`
        update library set scanning_config = ${sql.json({ enabled: true, scanMode: 'normal', ...scanning } as never)}
        where id = ${id}`
      return id
    },
    set: (key: SettingKey, value: string | boolean) =>
      writeSettings(sql, [{ key, value }], {
        accountId: account!.id,
        username: 'root',
        reason: null,
        address: null,
      }),
    slots: async () =>
      (
        await sql<{ job: string; slot: Date }[]>`select job, slot from schedule_slot order by 2, 1`
      ).map(row => `${row.job.split(' ')[0]} ${row.slot.toISOString()}`),
    scans: async () =>
      (await sql<{ mode: string }[]>`select mode from scan order by created_at, id`).map(
        row => row.mode,
      ),
    /** Lets all processes look at their clocks. */
    wake: () => sql`select pg_notify('schedule', '')`,
    until: waitUntil,
  }
}

t.test('one of several processes takes each slot, and missed slots are made up for', async t => {
  const { sql, library, backdate, setClock, wake, process, slots, scans, until, queue } =
    await installation(t)
  await library({ cronSchedule: '*/5 * * * *', cronTimezone: 'UTC', scanMode: 'deep' })
  await backdate()
  setClock('2027-03-01T10:02:00Z')
  await Promise.all([process(), process(), process()])
  // 9:55 and 10:00 are within ten minutes, 9:50 is not; 10:05 is reached during the test.
  await until(async () => (await slots()).length === 2)
  setClock('2027-03-01T10:04:59.500Z')
  await wake()
  await until(async () => (await slots()).length === 3)
  for (const late of [await process(), await process()]) await late.close()
  t.same(await slots(), [
    'scan 2027-03-01T09:55:00.000Z',
    'scan 2027-03-01T10:00:00.000Z',
    'scan 2027-03-01T10:05:00.000Z',
  ])
  t.same(await scans(), ['deep'], 'a scan is already queued at the second slot')
  const jobs = await sql`select 1 from pgboss.job where name in ('scan', 'analyze')`
  t.equal(jobs.length, 1)
  t.ok(await queue.claim('scan'))
})

t.test('a restarted process takes no slot twice', async t => {
  const { sql, set, backdate, setClock, process, slots, until } = await installation(t)
  await set('scheduler.timezone', 'UTC')
  await backdate()
  setClock('2027-03-01T03:02:00Z')
  const first = await process()
  await until(async () => (await slots()).length === 1)
  await first.close()
  await (await process()).close()
  t.same(await slots(), ['maintenance 2027-03-01T03:00:00.000Z'])
  const jobs = await sql`select 1 from pgboss.job where name = 'maintenance'`
  t.equal(jobs.length, 1)
})

t.test('a new or changed schedule applies at once', async t => {
  const { sql, library, set, setClock, process, slots, until } = await installation(t)
  await set('maintenance.cron_schedule', '')
  const now = new Date()
  // The clock of the process is some minutes ahead of the change.
  setClock(new Date(now.getTime() + 240_000).toISOString())
  await process()
  const past = new Date(now.getTime() - 120_000)
  const id = await library({
    cronSchedule: `${past.getUTCMinutes()} * * * *`,
    cronTimezone: 'UTC',
  })
  const next = new Date(now.getTime() + 35 * 60_000)
  next.setUTCSeconds(0, 0)
  setClock(new Date(now.getTime() + 40 * 60_000).toISOString())
  await sql`
    update library
    set scanning_config = scanning_config || ${sql.json({ cronSchedule: `${next.getUTCMinutes()} * * * *` })}
    where id = ${id}`
  await until(async () => (await slots()).length === 1)
  t.same(
    await slots(),
    [`scan ${next.toISOString()}`],
    'without slots before the schedule was created',
  )
})

t.test('slots missed while a library was inactive are not made up for', async t => {
  const { sql, library, backdate, process, slots, set, until } = await installation(t)
  await set('maintenance.cron_schedule', '')
  const past = new Date(Date.now() - 120_000)
  const cronSchedule = `${past.getUTCMinutes()} * * * *`
  const id = await library({ cronSchedule, cronTimezone: 'UTC' })
  await backdate()
  await sql`update library set is_active = false where id = ${id}`
  await process()
  await sql`update library set is_active = true where id = ${id}`
  await (await process()).close()
  t.same(await slots(), [])
  await library({ cronSchedule, cronTimezone: 'UTC' })
  await backdate()
  await process()
  await until(async () => (await slots()).length > 0)
})

t.test('slots are not made up for before a change of what the schedule depends on', async t => {
  const { sql, queue, library, set, backdate } = await installation(t)
  const cronSchedule = '* * * * *'
  const zoned = await library({ cronSchedule, cronTimezone: 'UTC' })
  const plain = await library({ cronSchedule })
  const [own, usual] = [await insertReleaseSource(sql), await insertReleaseSource(sql)]
  await sql`update release_source set cron_schedule = '0 * * * *' where id = ${own.id}`
  await set('backup.cron', '0 2 * * *')
  await set('deduplication.enabled', true)
  await sql`alter table release_source disable trigger user`
  await sql`update release_source set schedule_changed_at = '2000-01-01'`
  const changedBy = async (key: SettingKey, value: string | boolean) => {
    await backdate()
    await set(key, value)
    const jobs = await readSchedule({ sql, queue, log })
    return jobs.flatMap(({ job, since }) => (since > Date.parse('2001-01-01') ? [job] : [])).sort()
  }
  const [scan, poll] = [`scan ${plain}`, [`poll ${own.id}`, `poll ${usual.id}`].sort()]
  t.same(await changedBy('backup.cron', '0 3 * * *'), ['backup'])
  t.same(await changedBy('deduplication.cron_schedule', '0 4 * * *'), ['deduplication'])
  t.same(await changedBy('maintenance.cron_schedule', '0 5 * * *'), ['maintenance'])
  t.same(await changedBy('release_tracking.default_cron_schedule', '0 6 * * *'), [
    `poll ${usual.id}`,
  ])
  t.same(
    await changedBy('scheduler.timezone', 'Asia/Tokyo'),
    ['backup', 'deduplication', 'maintenance', ...poll, scan],
    `not scan ${zoned}, which has a time zone of its own`,
  )
})

t.test('a slot is not skipped because of a scan that watching requested', async t => {
  const { sql, queue, library, backdate, setClock, process, scans, until, set } =
    await installation(t)
  await set('maintenance.cron_schedule', '')
  const libraryId = await library({ cronSchedule: '0 * * * *', scanMode: 'deep' })
  await requestScan(sql, queue, { libraryId, mode: 'normal', options: { quietMs: 1 } })
  await backdate()
  setClock('2027-01-10T09:00:05Z')
  await process()
  await until(async () => (await scans()).length === 2)
  t.same((await scans()).sort(), ['deep', 'normal'])
})

t.test('the time zone is that of the library, otherwise of the setting', async t => {
  const { library, set, backdate, setClock, process, slots, until } = await installation(t)
  await set('scheduler.timezone', 'Asia/Tokyo')
  await set('maintenance.cron_schedule', '')
  await library({ cronSchedule: '0 4 * * *', cronTimezone: 'America/New_York' })
  await backdate()
  setClock('2027-01-10T09:00:05Z')
  const first = await process()
  await until(async () => (await slots()).length === 1)
  await first.close()
  await library({ cronSchedule: '0 4 * * *' })
  await backdate()
  setClock('2027-01-10T19:00:05Z')
  await process()
  await until(async () => (await slots()).length === 2)
  t.same(await slots(), ['scan 2027-01-10T09:00:00.000Z', 'scan 2027-01-10T19:00:00.000Z'])
})

t.test('settings apply at once, and disabled jobs do not run', async t => {
  const { sql, set, setClock, process, slots, until } = await installation(t)
  await set('maintenance.cron_schedule', '')
  await set('deduplication.enabled', false)
  await set('deduplication.cron_schedule', '* * * * *')
  setClock(new Date(Date.now() + 300_000).toISOString())
  await process()
  await (await process()).close()
  t.same(await slots(), [])
  await set('deduplication.enabled', true)
  await until(async () => (await slots()).length > 0)
  t.equal((await sql`select 1 from pgboss.job where name = 'dedupe'`).length, 1)
})

t.test(
  'a library that is inactive, has its schedule disabled or is being deleted is not scanned',
  async t => {
    const { sql, library, set, backdate, setClock, process, slots } = await installation(t)
    await set('maintenance.cron_schedule', '')
    const disabled = await library({ cronSchedule: '* * * * *', enabled: false })
    const inactive = await library({ cronSchedule: '* * * * *' })
    const deleting = await library({ cronSchedule: '* * * * *' })
    const invalid = await library({ cronSchedule: 'invalid' })
    await sql`update library set is_active = false where id = ${inactive}`
    await sql`update library set deleting_at = now() where id = ${deleting}`
    t.ok(disabled && invalid)
    await backdate()
    setClock('2027-01-10T09:00:05Z')
    await (await process()).close()
    t.same(await slots(), [])
  },
)

t.test('the minutely job is run by one of the processes', async t => {
  const { set, setClock, wake, process, slots, until } = await installation(t)
  await set('maintenance.cron_schedule', '')
  setClock('2027-01-10T09:00:05Z')
  let runs = 0
  const everyMinute = async () => {
    runs += 1
  }
  const both = await Promise.all([process(everyMinute), process(everyMinute)])
  setClock('2027-01-10T09:00:59.500Z')
  await wake()
  await until(() => runs > 0)
  await wake()
  for (const one of both) await one.close()
  t.equal(runs, 1)
  t.same(await slots(), ['minute 2027-01-10T09:01:00.000Z'])
})

t.test('libraries with scanOnStart are scanned when the server starts', async t => {
  const { sql, queue, library, scans } = await installation(t)
  const configured = await library({ scanOnStart: true })
  await library({ scanOnStart: false })
  const inactive = await library({ scanOnStart: true })
  await sql`update library set is_active = false where id = ${inactive}`
  await scanOnStart(sql, queue)
  await scanOnStart(sql, queue)
  t.same(await scans(), ['normal'], 'one queued scan is enough')
  const [scan] = await sql`select library_id from scan`
  t.equal(scan!.library_id, configured)
})
