// Settings over HTTP.
import t from 'tap'
import { connect } from '../../../lib/store/postgres/db.ts'
import { openSettings } from '../../../lib/store/setting/setting.ts'
import { startApi } from '../../kit/server.ts'

const all = await startApi(t)
const admin = await all.createUser('admin', { username: 'root' })
const someone = await all.createUser('maintainer')

t.test('settings are listed with defaults, by category and key', async t => {
  const { data } = (await admin.get('/admin/settings')).body
  t.same(
    data.map((s: { key: string }) => s.key),
    [
      'application.name',
      'auth.registration_enabled',
      'backup.cron',
      'backup.keep',
      'deduplication.cron_schedule',
      'deduplication.enabled',
      'display.custom_metadata_template',
      'duplicate_detection.trusted_external_id_sources',
      'events.retention_minutes',
      'koreader.enabled',
      'komga.enabled',
      'komga.prefix',
      'maintenance.cron_schedule',
      'plugins.auto_match_confidence_threshold',
      'plugins.post_scan_auto_match_enabled',
      'purge.purge_empty_series',
      'reading.retention_days',
      'release_tracking.default_cron_schedule',
      'release_tracking.default_languages',
      'scheduler.timezone',
      'tasks.retention_days',
      'watch.poll_seconds',
    ],
  )
  t.match(data[1], {
    id: /^[0-9a-f-]{36}$/,
    value: 'false',
    defaultValue: 'false',
    valueType: 'Boolean',
    category: 'Authentication',
    isSensitive: false,
    minValue: null,
    version: 1,
    updatedBy: null,
  })
  t.ok(Date.parse(data[1].updatedAt))
  const some = await admin.get('/admin/settings?category=Purge')
  t.same(
    some.body.data.map((s: { key: string }) => s.key),
    ['purge.purge_empty_series'],
  )
})

t.test(
  'a change is visible to all processes and recorded with user, reason and address',
  async t => {
    const path = '/admin/settings/application.name'
    t.same((await all.anonymous.get('/settings/branding')).body, { applicationName: 'Stackroom' })
    const changed = await admin.put(path, { value: 'Shelf', change_reason: 'nicer' })
    t.equal(changed.status, 200)
    t.match(changed.body, { value: 'Shelf', version: 2, updatedBy: 'root' })
    t.same((await all.anonymous.get('/settings/branding')).body, { applicationName: 'Shelf' })
    t.match(
      (await admin.put(path, { value: 'Shelf' })).body,
      { version: 2 },
      'no change, no new version',
    )
    const reset = await admin.post(`${path}/reset`)
    t.match(reset.body, { value: 'Stackroom', version: 3 })
    const history = await admin.get(`${path}/history`)
    t.match(history.body.data, [
      { oldValue: 'Shelf', newValue: 'Stackroom', key: 'application.name' },
      {
        settingId: changed.body.id,
        oldValue: 'Stackroom',
        newValue: 'Shelf',
        changedBy: 'root',
        changeReason: 'nicer',
        ipAddress: '127.0.0.1',
      },
    ])
    t.match((await admin.get(`${path}/history?pageSize=1`)).body, { data: [{}], total: 2 })
  },
)

t.test('values are accepted as text or JSON, and validated', async t => {
  const path = '/admin/settings/auth.registration_enabled'
  t.match((await admin.put(path, { value: true })).body, { value: 'true' })
  t.match((await admin.put(path, { value: 'false' })).body, { value: 'false' })
  for (const value of ['yes', 1, null, [true], { a: 1 }, 'TRUE '])
    t.equal((await admin.put(path, { value })).status, 400, JSON.stringify(value))
  t.equal((await admin.put(path, {})).status, 400)
  t.equal((await admin.put('/admin/settings/application.name', { value: 7 })).status, 400)
  t.equal(
    (await admin.put('/admin/settings/application.name', { value: 'x'.repeat(101) })).status,
    400,
  )
})

t.test('schedules and time zones are validated', async t => {
  const right = {
    'maintenance.cron_schedule': ['30 2 * * mon-fri', ''],
    'deduplication.cron_schedule': ['*/15 * * * *', ''],
    'scheduler.timezone': ['Europe/Berlin', 'UTC', ''],
  }
  const invalid = {
    'maintenance.cron_schedule': [
      'soon',
      '* * * *',
      '0 0 3 * * *',
      '61 * * * *',
      '0 0 31 2 *',
      '@daily',
    ],
    'deduplication.cron_schedule': ['0 25 * * *', 5],
    'scheduler.timezone': ['Mars/Olympus', 'Berlin', ' '],
    'tasks.retention_days': [0, 366, 1.5, 'many'],
  }
  for (const [key, values] of Object.entries(right))
    for (const value of values)
      t.equal((await admin.put(`/admin/settings/${key}`, { value })).status, 200, `${key} ${value}`)
  for (const [key, values] of Object.entries(invalid))
    for (const value of values)
      t.match(
        await admin.put(`/admin/settings/${key}`, { value }),
        { status: 400, body: { message: new RegExp(key.replace('.', '\\.')) } },
        `${key} ${value}`,
      )
  const reset = await admin.post('/admin/settings/maintenance.cron_schedule/reset')
  t.match(reset.body, { value: '0 3 * * *', valueType: 'String', defaultValue: '0 3 * * *' })
  t.match((await admin.get('/admin/settings/tasks.retention_days')).body, {
    valueType: 'Integer',
    minValue: 1,
    maxValue: 365,
    description: /\w/,
  })
})

t.test('registration follows its setting', async t => {
  const applicant = { username: 'new', email: 'new@example.org', password: 'Correct horse 42!' }
  t.equal((await all.anonymous.post('/auth/register', applicant)).status, 403)
  await admin.put('/admin/settings/auth.registration_enabled', { value: 'true' })
  t.ok((await all.anonymous.post('/auth/register', applicant)).status < 300)
})

t.test('a bulk update is atomic', async t => {
  const updates = [
    { key: 'application.name', value: 'Both' },
    { key: 'purge.purge_empty_series', value: false },
  ]
  const invalid = await admin.post('/admin/settings/bulk', {
    updates: [...updates, { key: 'deduplication.enabled', value: 'maybe' }],
  })
  t.equal(invalid.status, 400)
  t.match((await admin.get('/admin/settings/application.name')).body, { value: 'Stackroom' })
  const unknown = await admin.post('/admin/settings/bulk', {
    updates: [...updates, { key: 'a.b', value: '' }],
  })
  t.equal(unknown.status, 404)
  const right = await admin.post('/admin/settings/bulk', { updates, changeReason: 'both' })
  t.equal(right.status, 200)
  t.match(right.body.data, [
    { key: 'application.name', value: 'Both' },
    { key: 'purge.purge_empty_series', value: 'false' },
  ])
})

t.test('concurrent changes are all in the history', async t => {
  const path = '/admin/settings/display.custom_metadata_template'
  const before = (await admin.get(path)).body.version
  const values = Array.from({ length: 8 }, (_, i) => `template ${i}`)
  await Promise.all(values.map(value => admin.put(path, { value })))
  t.equal((await admin.get(path)).body.version, before + 8)
  const changes = (await admin.get(`${path}/history`)).body.data
  const links = changes.slice(0, 8)
  for (let i = 0; i < 7; i++) t.equal(links[i].oldValue, links[i + 1].newValue)
  for (const page of [1, 2, 3]) {
    const part = await admin.get(`${path}/history?page=${page}&pageSize=3`)
    t.same(part.body.data, changes.slice((page - 1) * 3, page * 3))
    t.match(part.body, { page, pageSize: 3, total: changes.length })
  }
})

t.test('internal keys are not settings', async t => {
  await all.sql`
    insert into setting (key, value) values ('setup_token', '{"sha256":"aa"}'), ('jwt_keys', '["k"]')
    on conflict do nothing`
  for (const key of ['setup_token', 'jwt_keys', 'nothing', 'constructor', '__proto__']) {
    for (const response of [
      await admin.get(`/admin/settings/${key}`),
      await admin.put(`/admin/settings/${key}`, { value: 'x' }),
      await admin.post(`/admin/settings/${key}/reset`),
      await admin.get(`/admin/settings/${key}/history`),
    ])
      t.match(response, { status: 404, body: { error: 'NotFound' } }, key)
  }
  t.notMatch(JSON.stringify((await admin.get('/admin/settings')).body), /setup_token|jwt_keys/)
})

t.test('users can read only public settings', async t => {
  const { status, body } = await someone.get('/settings/public')
  t.equal(status, 200)
  t.same(Object.keys(body), [
    'application.name',
    'display.custom_metadata_template',
    'scheduler.timezone',
  ])
  t.match(body, { 'application.name': { key: 'application.name', value: 'Both' } })
  t.equal((await all.anonymous.get('/settings/public')).status, 401)
  t.equal((await someone.get('/admin/settings')).status, 403)
  t.equal((await someone.put('/admin/settings/application.name', { value: 'x' })).status, 403)
})

t.test('a cached value is refreshed when another process changes it', async t => {
  const other = connect(all.url, { max: 2 })
  t.teardown(() => other.end({ timeout: 1 }))
  const settings = openSettings(other)
  t.equal(await settings.cached('application.name'), 'Both')
  await admin.put('/admin/settings/application.name', { value: 'Elsewhere' })
  for (let left = 1000; left > 0; left--) {
    if ((await settings.cached('application.name')) === 'Elsewhere') break
    await new Promise(resolve => setTimeout(resolve, 20))
  }
  t.equal(await settings.cached('application.name'), 'Elsewhere')
})
