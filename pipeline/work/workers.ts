// Takes jobs from the queue and has them run, a few at a time. Lanes of one group are asked in order, so
// that indexing passes covers, and hashing waits until both are done, because it would take the disk
// from them; the backlog waits in Postgres, not in memory.
import type { Sql } from 'postgres'
import { type Bell, openBell } from '../../lib/async/wakeup.ts'
import type { Log } from '../../lib/log.ts'
import type { JobName, Queue } from '../../lib/queue/queue.ts'
import { startRuns, type Work } from './job-runs.ts'

// Large books are stored a few at a time and leave small jobs behind; together they keep a thread busy.
const takenTogether: Partial<Record<JobName, number>> = { cover: 3, hash: 3 }
const restMs = { least: 100, most: 1_000 }

type Deps = { sql: Sql; queue: Queue; log: Log }
type Group = { lanes: JobName[]; slots: number }

/** Starts the loops. `close()` stops work at its next safe point and gives unfinished jobs back. */
export async function startLanes({ sql, queue, log }: Deps, work: Work, groups: Group[]) {
  let stopping = false
  const runs = await startRuns({ sql, queue, log }, work)
  const bells = groups.map(() => openBell())

  async function loop({ lanes }: Group, bell: Bell) {
    let rest = restMs.least
    while (!stopping) {
      const heard = bell.rung()
      const ran = await runFirst(lanes).catch(error => {
        log.error({ err: error }, 'taking a job failed')
        return false
      })
      rest = ran ? restMs.least : Math.min(rest * 2, restMs.most)
      // A bell that rang while the lanes were looked at may mean a job they just missed.
      if (!ran && !stopping) await bell.heard(rest, heard)
    }
  }

  async function runFirst(lanes: JobName[]) {
    for (const lane of lanes) {
      if (lane === 'hash' && (await queue.pending(['index', 'cover']))) continue
      const jobs = await queue.take(lane, takenTogether[lane] ?? 1)
      if (jobs.length === 0) continue
      await runs.run(lane, jobs)
      return true
    }
    return false
  }

  const ring = (name?: JobName) =>
    groups.forEach(({ lanes }, i) => {
      if (name === undefined || lanes.includes(name)) bells[i]!.ring()
    })
  const listening = await sql.listen(
    'work',
    name => ring(name as JobName),
    () => ring(),
  )
  const loops = groups.flatMap((group, i) =>
    Array.from({ length: group.slots }, () => loop(group, bells[i]!)),
  )
  return {
    /** Looks for jobs, or those of one name, now instead of at the next poll. */
    wake: ring,
    async close() {
      stopping = true
      runs.stop()
      ring()
      await listening.unlisten()
      await Promise.all(loops)
      await runs.close()
    },
  }
}
