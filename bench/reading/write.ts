// The cost of a write to the ledger: PUT of a position as it is recorded, beside a transaction that stores
// the position alone. Interleaved, so that a busy machine slows both down. Linux only.
import { readFileSync } from 'node:fs'
import { unrestrictedViewer, type Viewer } from '../../lib/accounts/viewer.ts'
import { refreshAccountReading } from '../../lib/catalog/derived/series-reading.ts'
import { lockBooksForProgress } from '../../lib/catalog/row-locks.ts'
import { recordReading } from '../../lib/reading/record.ts'
import { loadConfig } from '../../lib/store/config/config.ts'
import { bookEvents, publish } from '../../lib/store/event/publish.ts'
import { connectionsLike, openDatabase, type Sql } from '../../lib/store/postgres/db.ts'
import { insertAccount } from '../../test/kit/accounts.ts'
import { print } from '../kit/stackroom.ts'

export async function measureWrites({ data, rounds }: { data: string; rounds: number }) {
  const { sql, close } = await openDatabase(loadConfig({ env: {}, flags: { data_dir: data } }))
  const books = await sql<{ id: string }[]>`
    select id from book where missing_at is null and page_count > 20 limit 50`
  const accounts = [await insertAccount(sql, 'reader'), await insertAccount(sql, 'reader')]
  const origin = { surface: 'api', device: { key: 'bench', name: null } } as const
  const writers = {
    position: (pool: Sql, viewer: Viewer, bookId: string, page: number) =>
      storePosition(pool, viewer, bookId, page),
    ledger: (pool: Sql, viewer: Viewer, bookId: string, page: number) =>
      recordReading(pool, viewer, origin, { bookId, currentPage: page }),
  }
  try {
    const measured = await Promise.all(
      Object.entries(writers).map(async ([name, write], i) => {
        const pool = connectionsLike(sql, { max: 1, connection: {} })
        const [session] = await pool<{ pid: number }[]>`select pg_backend_pid() as pid`
        const viewer = unrestrictedViewer(accounts[i]!.id)
        return {
          name,
          write,
          pool,
          viewer,
          pid: session!.pid,
          times: [] as number[],
          work: [] as number[],
        }
      }),
    )
    for (let round = 0; round < rounds; round++) {
      const { id } = books[round % books.length]!
      const order = round % 2 === 0 ? measured : measured.toReversed()
      for (const { write, pool, viewer, pid, times, work } of order) {
        const before = processorMs(pid)
        const started = performance.now()
        await write(pool, viewer, id, 2 + (round % 17))
        times.push(performance.now() - started)
        work.push(processorMs(pid) - before)
      }
    }
    const median = (list: number[]) =>
      list.slice(20).toSorted((a, b) => a - b)[(list.length - 20) >> 1]!
    const [position, ledger] = measured.map(({ times, work }) => ({
      ms: median(times),
      cpuMs: median(work),
    }))
    const ratio = ledger!.ms / position!.ms
    print({
      rounds,
      position,
      ledger,
      ratio,
      cpuRatio: ledger!.cpuMs / position!.cpuMs,
      limit: 1.3,
    })
    process.exitCode = ratio > 1.3 ? 1 : 0
    await Promise.all(measured.map(({ pool }) => pool.end()))
  } finally {
    await sql`delete from account where id = any(${accounts.map(({ id }) => id)}::uuid[])`
    await close()
  }
}

const processorMs = (pid: number) =>
  Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[0]) / 1e6

async function storePosition(sql: Sql, viewer: Viewer, bookId: string, page: number) {
  await sql.begin(async tx => {
    const [book] = await lockBooksForProgress(tx, viewer, [bookId])
    await tx`
      insert into progress as p (account_id, book_id, current_page, is_completed, started_at,
        updated_at)
      select ${viewer.accountId}, ${bookId}, ${page}, false, t.at, t.at
      from (select statement_timestamp() as at) t
      on conflict (account_id, book_id) do update set current_page = excluded.current_page,
        percentage = excluded.percentage, is_completed = excluded.is_completed,
        updated_at = excluded.updated_at
      returning *`
    await refreshAccountReading(tx, viewer.accountId, [book!.seriesId])
    const { accountId } = viewer
    await publish(tx, bookEvents('progress_updated', [book!], { accountId }))
  })
}
