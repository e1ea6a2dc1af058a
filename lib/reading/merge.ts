// Builds sittings from single positions: writes of one device in one book with short gaps are one entry, and their
// time is inferred unless the device measured it. The result depends only on the set of writes.
import { type Entry, isSitting } from './entry.ts'

/** Positions with a gap up to this belong to one sitting. */
export const sittingGapMs = 5 * 60_000

/** Per kind in one entry; beyond this only the ends of each run are retained. */
const maxMilestones = 200

type Interval = Pick<Entry, 'startedAt' | 'endedAt'>

/** Adds a single position to the entries of its book and device. `absorbed` were merged into `entry`. */
export function mergePosition(
  entries: readonly Entry[],
  position: Entry,
): { entry: Entry; absorbed: Entry[] } {
  const near = entries
    .filter(entry => !entry.isSession && isNear(entry, position))
    .sort((a, b) => a.startedAt - b.startedAt)
  const [first, ...absorbed] = near
  if (!first) return { entry: position, absorbed: [] }
  // If two positions have the same time, the one that arrived later is newer.
  const newest = [...near, position].reduce((a, b) => (b.endedAt >= a.endedAt ? b : a))
  const all = [...near, position]
  const restartedAt = unionOf(all.map(entry => entry.restartedAt))
  const completedAt = unionOf(all.map(entry => entry.completedAt))
  const entry: Entry = {
    ...newest,
    id: first.id,
    startedAt: Math.min(...all.map(({ startedAt }) => startedAt)),
    ...limitMilestones(restartedAt, completedAt),
  }
  return { entry, absorbed }
}

/** The entry with its inferred time: its length minus the measured sessions of the same book and device. */
export function inferTime(entry: Entry, entries: readonly Entry[]): Entry {
  const measured = entries.filter(isMeasured)
  const isPart = measured.some(session => isNear(session, entry))
  const length = entry.endedAt - entry.startedAt
  const inferredMs = length === 0 ? null : length - coveredMs(entry, measured)
  return { ...entry, isPart, inferredMs }
}

export const isMeasured = (entry: Entry) =>
  isSitting(entry) && entry.isSession && entry.measuredMs !== null

/** Whether two sittings overlap or are within the gap. */
export function isNear(a: Interval, b: Interval): boolean {
  return a.startedAt - sittingGapMs <= b.endedAt && b.startedAt - sittingGapMs <= a.endedAt
}

/** The part of an interval that others cover. */
function coveredMs({ startedAt, endedAt }: Interval, others: readonly Interval[]): number {
  let covered = 0
  let from = startedAt
  for (const other of others.toSorted((a, b) => a.startedAt - b.startedAt)) {
    const start = Math.max(from, other.startedAt)
    const end = Math.min(endedAt, other.endedAt)
    if (end <= start) continue
    covered += end - start
    from = end
  }
  return covered
}

const unionOf = (lists: readonly (readonly number[])[]) =>
  [...new Set(lists.flat())].sort((a, b) => a - b)

/** All of them, because a late write may come between any two, up to a number that real reading never reaches. */
function limitMilestones(restartedAt: number[], completedAt: number[]) {
  if (restartedAt.length <= maxMilestones && completedAt.length <= maxMilestones)
    return { restartedAt, completedAt }
  return {
    restartedAt: endsOfRuns(restartedAt, completedAt).slice(-maxMilestones),
    completedAt: endsOfRuns(completedAt, restartedAt).slice(-maxMilestones),
  }
}

/** The first and last time of each run that is not interrupted by one of `others`. */
function endsOfRuns(times: readonly number[], others: readonly number[]): number[] {
  let next = 0
  const runOf = times.map(time => {
    while (next < others.length && others[next]! <= time) next++
    return next
  })
  return times.filter((_, i) => runOf[i] !== runOf[i - 1] || runOf[i] !== runOf[i + 1])
}
