// `stackroom queue rebuild` after a lost queue in the middle of a scan.
import { once } from 'node:events'
import { join } from 'node:path'
import t from 'tap'
import { doctorFindings } from '../kit/catalog.ts'
import { commandLine } from '../kit/command.ts'
import { folderWithFiles, temporaryFolder } from '../kit/files/folders.ts'
import { holdBooks } from '../kit/hold-books.ts'
import { comicFiles } from '../kit/library.ts'
import { waitUntil } from '../kit/processes.ts'

const data = join(temporaryFolder(t), 'data')
const { sql, start, stackroom } = await commandLine(t, {}, data)
// Three batches.
const files = 140
const root = folderWithFiles(t, comicFiles(files))

t.test('a lost queue is rebuilt, and all work is completed', async t => {
  const idle = startInBackground(['worker'])
  await waitUntil(async () => (await locks()) > 0)
  const refused = await stackroom(['queue', 'rebuild'])
  t.equal(refused.code, 2)
  t.match(refused.stderr, /Stop `serve` and `worker` first/)
  await end(idle, 'SIGTERM')

  const hold = await holdBooks(sql)
  const scan = startInBackground(['scan', root])
  await hold.isReached()
  await end(scan, 'SIGKILL')
  await hold.release()
  // The connections of a killed process end a little later than the process.
  await waitUntil(async () => (await locks()) === 0)
  const { stored } = await books()
  t.ok(stored > 0 && stored < files, `${stored} books stored: the scan was interrupted`)

  await sql`drop schema pgboss cascade`
  const rebuilt = await stackroom(['queue', 'rebuild', '--json'])
  t.equal(rebuilt.code, 0, rebuilt.stderr)
  t.match(JSON.parse(rebuilt.stdout), { scan: 1 })

  const listed = await stackroom(['queue', 'list', '--json'])
  t.equal(listed.code, 0, listed.stderr)
  const [scanTasks] = JSON.parse(listed.stdout).filter(({ type }: any) => /scan/.test(type))
  t.match(scanTasks, { pending: 1, running: 0, failed: 0 })
  t.match((await stackroom(['queue', 'list'])).stdout, / queued +running +failed\n/)

  const worker = startInBackground(['worker'])
  await waitUntil(async () => {
    const { covered, hashed } = await books()
    return covered === files && hashed === files
  })
  await waitUntil(
    async () => (await sql`select from pgboss.job where state < 'completed'`).length === 0,
  )
  await end(worker, 'SIGTERM')
  const [row] = await sql`select state from scan order by created_at`
  t.equal(row!.state, 'completed')
  t.same(await doctorFindings({ sql, data }), [])

  const nothing = await stackroom(['queue', 'rebuild'])
  t.equal(nothing.code, 0)
  t.match(nothing.stdout, /^find_duplicates +1\n$/)
})

function startInBackground(args: string[]) {
  const child = start(args)
  child.stdout.resume()
  child.stderr.resume()
  return { child, closed: once(child, 'close') }
}

async function end(
  { child, closed }: ReturnType<typeof startInBackground>,
  signal: NodeJS.Signals,
) {
  child.kill(signal)
  await closed
}

async function locks() {
  const rows = await sql`
    select from pg_locks
    where locktype = 'advisory' and mode = 'ShareLock' and granted
      and database = (select oid from pg_database where datname = current_database())`
  return rows.length
}

async function books() {
  const [row] = await sql`
    select count(*)::integer as stored, count(cover)::integer as covered,
      count(sha256)::integer as hashed
    from book_artifact`.catch(() => [{ stored: 0, covered: 0, hashed: 0 }])
  return row as { stored: number; covered: number; hashed: number }
}
