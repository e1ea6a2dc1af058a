// Schedules: each slot once, whoever looks; changes at once; never for the past.
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { createLibrary } from '../../lib/catalog/library/library.ts'
import { openLog } from '../../lib/log.ts'
import { connect } from '../../lib/postgres/db.ts'
import { openQueue } from '../../lib/queue/queue.ts'
import { scanOnStart } from '../../lib/schedule/scan.ts'
import { startScheduler } from '../../lib/schedule/scheduler.ts'
import type { SettingKey } from '../../lib/setting/definition.ts'
import { writeSettings } from '../../lib/setting/setting.ts'
import { database } from '../kit/db.ts'
import { temporary } from '../kit/library.ts'

const log = openLog({ level: 'fatal' })

/** A database with a queue; `process()` starts a scheduler as another process would. */
async function installation(t: Test) {
  const { sql, url } = await database(t)
  const queue = await openQueue(sql, () => {})
  t.teardown(() => queue.close())
  // The database's clock dates changes, so these clocks go as fast, some hours away from it.
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
    /** As if all schedules had been what they are for a long time. */
    async age() {
      await sql`alter table library disable trigger user`
      await sql`update library set scheduled_at = '2000-01-01'`
      await sql`alter table library enable trigger user`
      await sql`update setting set updated_at = '2000-01-01'`
      await sql`update schema_migration set applied_at = '2000-01-01'`
    },
    async library(scanning: Record<string, unknown>) {
      const { id } = await createLibrary(sql, { root: Buffer.from(temporary(t)) })
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
    async until(holds: () => Promise<boolean>) {
      for (let left = 2000; left > 0; left--) {
        if (await holds()) return
        await sleep(25)
      }
      throw new Error('it does not come')
    },
  }
}

t.test('of two processes one takes each slot, and makes up for what was missed', async t => {
  const { sql, library, age, setClock, process, slots, scans, until, queue } = await installation(t)
  await library({ cronSchedule: '*/5 * * * *', cronTimezone: 'UTC', scanMode: 'deep' })
  await age()
  setClock('2027-03-01T10:04:58.500Z')
  await Promise.all([process(), process(), process()])
  // 9:55 and 10:00 are within ten minutes, 9:50 is not; 10:05 comes by itself.
  await until(async () => (await slots()).length === 3)
  await sleep(300)
  t.same(await slots(), [
    'scan 2027-03-01T09:55:00.000Z',
    'scan 2027-03-01T10:00:00.000Z',
    'scan 2027-03-01T10:05:00.000Z',
  ])
  t.same(await scans(), ['deep'], 'one waits already when the second slot comes')
  const jobs = await sql`select 1 from pgboss.job where name in ('scan', 'analyze')`
  t.equal(jobs.length, 1)
  t.ok(await queue.take('scan'))
})

t.test('a process that starts again does nothing twice', async t => {
  const { sql, set, age, setClock, process, slots, until } = await installation(t)
  await set('scheduler.timezone', 'UTC')
  await age()
  setClock('2027-03-01T03:02:00Z')
  const first = await process()
  await until(async () => (await slots()).length === 1)
  await first.close()
  await process()
  await sleep(300)
  t.same(await slots(), ['upkeep 2027-03-01T03:00:00.000Z'])
  const jobs = await sql`select 1 from pgboss.job where name = 'upkeep'`
  t.equal(jobs.length, 1)
})

t.test('a schedule that is made or changed now begins now', async t => {
  const { sql, library, set, setClock, process, slots, until } = await installation(t)
  await set('upkeep.cron_schedule', '')
  const now = new Date()
  // The clock of the process runs some minutes ahead of the change, as if it looked later.
  setClock(new Date(now.getTime() + 240_000).toISOString())
  await process()
  const past = new Date(now.getTime() - 120_000)
  const id = await library({
    cronSchedule: `${past.getUTCMinutes()} * * * *`,
    cronTimezone: 'UTC',
  })
  await sleep(500)
  t.same(await slots(), [], 'the minute before it was made is none of its own')
  const next = new Date(now.getTime() + 120_000)
  next.setUTCSeconds(0, 0)
  await sql`
    update library
    set scanning_config = scanning_config || ${sql.json({ cronSchedule: `${next.getUTCMinutes()} * * * *` })}
    where id = ${id}`
  await until(async () => (await slots()).length === 1)
  t.same(await slots(), [`scan ${next.toISOString()}`], 'without a restart')
})

t.test('what came while a library was off does not come when it is on again', async t => {
  const { sql, library, age, process, slots, set, until } = await installation(t)
  await set('upkeep.cron_schedule', '')
  const past = new Date(Date.now() - 120_000)
  const cronSchedule = `${past.getUTCMinutes()} * * * *`
  const id = await library({ cronSchedule, cronTimezone: 'UTC' })
  await age()
  await sql`update library set is_active = false where id = ${id}`
  await process()
  await sql`update library set is_active = true where id = ${id}`
  await sleep(400)
  t.same(await slots(), [])
  await library({ cronSchedule, cronTimezone: 'UTC' })
  await age()
  await process()
  await until(async () => (await slots()).length > 0)
})

t.test('the zone is that of the library, else of the setting', async t => {
  const { library, set, age, setClock, process, slots, until } = await installation(t)
  await set('scheduler.timezone', 'Asia/Tokyo')
  await set('upkeep.cron_schedule', '')
  await library({ cronSchedule: '0 4 * * *', cronTimezone: 'America/New_York' })
  await age()
  setClock('2027-01-10T09:00:05Z')
  const first = await process()
  await until(async () => (await slots()).length === 1)
  await first.close()
  await library({ cronSchedule: '0 4 * * *' })
  await age()
  setClock('2027-01-10T19:00:05Z')
  await process()
  await until(async () => (await slots()).length === 2)
  t.same(await slots(), ['scan 2027-01-10T09:00:00.000Z', 'scan 2027-01-10T19:00:00.000Z'])
})

t.test('settings act at once, and what they switch off does not come', async t => {
  const { sql, set, setClock, process, slots, until } = await installation(t)
  await set('upkeep.cron_schedule', '')
  await set('deduplication.enabled', false)
  await set('deduplication.cron_schedule', '* * * * *')
  setClock(new Date(Date.now() + 300_000).toISOString())
  await process()
  await sleep(300)
  t.same(await slots(), [])
  await set('deduplication.enabled', true)
  await until(async () => (await slots()).length > 0)
  t.equal((await sql`select 1 from pgboss.job where name = 'dedupe'`).length, 1)
})

t.test('a library that is off, has its schedule off, or goes is not scanned', async t => {
  const { sql, library, set, age, setClock, process, slots } = await installation(t)
  await set('upkeep.cron_schedule', '')
  const off = await library({ cronSchedule: '* * * * *', enabled: false })
  const inactive = await library({ cronSchedule: '* * * * *' })
  const going = await library({ cronSchedule: '* * * * *' })
  const odd = await library({ cronSchedule: 'when it rains' })
  await sql`update library set is_active = false where id = ${inactive}`
  await sql`update library set deleting_at = now() where id = ${going}`
  t.ok(off && odd)
  await age()
  setClock('2027-01-10T09:00:05Z')
  await process()
  await sleep(400)
  t.same(await slots(), [])
})

t.test('the work of every minute is done by one of the processes', async t => {
  const { set, setClock, process, slots, until } = await installation(t)
  await set('upkeep.cron_schedule', '')
  setClock('2027-01-10T09:00:58.800Z')
  let done = 0
  const everyMinute = async () => {
    done += 1
  }
  await Promise.all([process(everyMinute), process(everyMinute)])
  await until(async () => done > 0)
  await sleep(300)
  t.equal(done, 1)
  t.same(await slots(), ['minute 2027-01-10T09:01:00.000Z'])
})

t.test('libraries that ask for it are scanned when the server starts', async t => {
  const { sql, queue, library, scans } = await installation(t)
  const asks = await library({ scanOnStart: true })
  await library({ scanOnStart: false })
  const inactive = await library({ scanOnStart: true })
  await sql`update library set is_active = false where id = ${inactive}`
  await scanOnStart(sql, queue)
  await scanOnStart(sql, queue)
  t.same(await scans(), ['normal'], 'one that waits is enough')
  const [scan] = await sql`select library_id from scan`
  t.equal(scan!.library_id, asks)
})
