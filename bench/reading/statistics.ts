// Reading statistics of the account with the most sittings among millions: latency and processor time. Linux only.
import { readFileSync } from 'node:fs'
import { unrestrictedViewer } from '../../lib/accounts/viewer.ts'
import { readingStatistics, type StatisticsRequest } from '../../lib/reading/statistics.ts'
import { loadConfig } from '../../lib/store/config/config.ts'
import { openDatabase } from '../../lib/store/postgres/db.ts'
import { print } from '../kit/stackroom.ts'
import { addSittings } from './sittings.ts'

type Options = { data: string; sessions: number; rounds: number }

const limitMs = 60

export async function measureStatistics({ data, sessions, rounds }: Options): Promise<void> {
  const { sql, close } = await openDatabase(loadConfig({ env: {}, flags: { data_dir: data } }))
  try {
    await addSittings(sql, sessions)
    const [heavy] = await sql<{ id: string; sittings: number }[]>`
      select account_id as id, count(*) as sittings from reading_session
      where started_at >= now() - interval '1 year'
      group by 1 order by 2 desc limit 1`
    const viewer = unrestrictedViewer(heavy!.id)
    const limited = { ...viewer, ageLimit: 16 }
    const to = new Date()
    const from = new Date(to.getTime() - 365 * 86_400_000)
    const year: StatisticsRequest = {
      ...{
        from,
        to,
        granularity: 'day',
        timeZone: 'UTC',
        sort: 'time',
        seriesLimit: 10,
        fill: false,
      },
    }
    const connection = await sql.reserve()
    const [session] = await connection<{ pid: number }[]>`select pg_backend_pid() as pid`
    const processorMs = () =>
      Number(readFileSync(`/proc/${session!.pid}/schedstat`, 'utf8').split(' ')[0]) / 1e6
    let worst = 0
    for (const [name, reader, request] of [
      ['year by day', viewer, year],
      [
        'year by week in Berlin',
        viewer,
        { ...year, granularity: 'week', timeZone: 'Europe/Berlin' },
      ],
      ['year by month, limited by age', limited, { ...year, granularity: 'month' }],
      ['90 days', viewer, { ...year, from: new Date(to.getTime() - 90 * 86_400_000) }],
    ] as const) {
      const times: number[] = []
      const cpu: number[] = []
      for (let round = 0; round < rounds + 3; round++) {
        const before = processorMs()
        const started = performance.now()
        await readingStatistics(connection, reader, request)
        const ms = performance.now() - started
        const work = processorMs() - before
        if (round < 3) continue
        times.push(ms)
        cpu.push(work)
      }
      times.sort((a, b) => a - b)
      cpu.sort((a, b) => a - b)
      const at = (list: number[], share: number) =>
        Math.round(list[Math.min(list.length - 1, Math.floor(list.length * share))]! * 10) / 10
      print({
        ...{ request: name, sittings: heavy!.sittings, minMs: at(times, 0), p50: at(times, 0.5) },
        ...{ p95: at(times, 0.95), cpuP50: at(cpu, 0.5), cpuP95: at(cpu, 0.95) },
      })
      worst = Math.max(worst, at(times, 0.95))
    }
    connection.release()
    print({ worstP95: worst, limitMs })
    process.exitCode = worst > limitMs ? 1 : 0
  } finally {
    await close()
  }
}
