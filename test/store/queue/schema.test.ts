// Tables of pg-boss that lib/store/queue reads and writes itself: a new version of pg-boss that changes them fails
// here, and no other module may name them.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { createDatabase } from '../../kit/db.ts'

const root = join(import.meta.dirname, '..', '..', '..')

/** Read the notes of the release and all statements of lib/store/queue before changing this number. */
const schemaVersion = 43

const jobColumns = {
  id: 'uuid',
  name: 'text',
  priority: 'integer',
  data: 'jsonb',
  state: 'USER-DEFINED',
  retry_limit: 'integer',
  retry_count: 'integer',
  retry_delay: 'integer',
  retry_delay_max: 'integer',
  heartbeat_seconds: 'integer',
  heartbeat_on: 'timestamp with time zone',
  singleton_key: 'text',
  start_after: 'timestamp with time zone',
  created_on: 'timestamp with time zone',
  started_on: 'timestamp with time zone',
  completed_on: 'timestamp with time zone',
  output: 'jsonb',
  policy: 'text',
}

t.test(
  'pg-boss has the schema that the statements of lib/store/queue were written for',
  async t => {
    const { sql } = await createDatabase(t)
    const [version] = await sql`select version from pgboss.version`
    t.equal(version!.version, schemaVersion)
    for (const table of ['job', 'job_common']) {
      const columns = await sql<{ name: string; type: string }[]>`
      select column_name as name, data_type as type from information_schema.columns
      where table_schema = 'pgboss' and table_name = ${table}`
      t.match(Object.fromEntries(columns.map(({ name, type }) => [name, type])), jobColumns, table)
    }
    const states = await sql<{ state: string }[]>`
    select unnest(enum_range(null::pgboss.job_state))::text as state`
    // Statements compare states by this order, such as `state < 'completed'`.
    t.same(
      states.map(row => row.state),
      ['created', 'retry', 'active', 'completed', 'cancelled', 'failed'],
    )
    const [partitions] = await sql`
    select count(*)::integer as count, min(inhrelid::regclass::text) as name from pg_inherits
    where inhparent = 'pgboss.job'::regclass`
    t.match(partitions, { count: 1, name: 'pgboss.job_common' }, 'all jobs are in one partition')
  },
)

t.test('only lib/store/queue names the tables of pg-boss', async t => {
  const files = ['lib', 'pipeline', 'cmd', 'sql'].flatMap(folder =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map(file =>
      join(folder, file),
    ),
  )
  const naming = files.filter(
    file =>
      /\.(ts|sql)$/.test(file) &&
      !file.startsWith('lib/store/queue/') &&
      // The right to use the schema is checked at the start.
      file !== 'lib/store/postgres/requirements.ts' &&
      /pgboss\b/.test(readFileSync(join(root, file), 'utf8')),
  )
  t.same(naming, [])
})
