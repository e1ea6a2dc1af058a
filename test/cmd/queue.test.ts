// `stackroom queue rebuild` in the middle of work.
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { commandLine } from '../kit/command.ts'
import { folderOf, manyComics } from '../kit/library.ts'

const { sql, start, stackroom } = await commandLine(t)
const files = 400
const root = folderOf(t, manyComics(files))

t.test('a queue that was lost is made anew, and everything is done after all', async t => {
  const idle = begin(['worker'])
  await until(async () => (await locks()) > 0)
  const refused = await stackroom(['queue', 'rebuild'])
  t.equal(refused.code, 2)
  t.match(refused.stderr, /Stop `serve` and `worker` first/)
  await end(idle, 'SIGTERM')

  const scan = begin(['scan', root])
  await until(async () => (await books()).stored > 20)
  await end(scan, 'SIGKILL')
  t.ok((await books()).stored < files, 'it was in the middle')

  await sql`drop schema pgboss cascade`
  const rebuilt = await stackroom(['queue', 'rebuild', '--json'])
  t.equal(rebuilt.code, 0, rebuilt.stderr)
  t.match(JSON.parse(rebuilt.stdout), { scan: 1 })

  const worker = begin(['worker'])
  await until(async () => {
    const { covered, hashed } = await books()
    return covered === files && hashed === files
  })
  await until(
    async () => (await sql`select from pgboss.job where state < 'completed'`).length === 0,
  )
  await end(worker, 'SIGTERM')
  const [row] = await sql`select state from scan order by created_at`
  t.equal(row!.state, 'completed')
  const doctor = await stackroom(['doctor'])
  t.equal(doctor.code, 0, doctor.stdout)

  const nothing = await stackroom(['queue', 'rebuild'])
  t.equal(nothing.code, 0)
  t.match(nothing.stdout, /^find_duplicates +1\n$/)
})

function begin(args: string[]) {
  const child = start(args)
  child.stdout.resume()
  child.stderr.resume()
  return { child, closed: once(child, 'close') }
}

async function end({ child, closed }: ReturnType<typeof begin>, signal: NodeJS.Signals) {
  child.kill(signal)
  await closed
}

async function locks() {
  const rows = await sql`
    select from pg_locks where locktype = 'advisory' and mode = 'ShareLock' and granted`
  return rows.length
}

async function books() {
  const [row] = await sql`
    select count(*)::integer as stored, count(cover)::integer as covered,
      count(sha256)::integer as hashed
    from book`.catch(() => [{ stored: 0, covered: 0, hashed: 0 }])
  return row as { stored: number; covered: number; hashed: number }
}

async function until(holds: () => Promise<boolean>) {
  for (let left = 3_000; left > 0; left--) {
    if (await holds()) return
    await sleep(20)
  }
  throw new Error('it does not happen')
}
