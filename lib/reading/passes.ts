// Passes through a book, folded from the entries of the ledger: the first reading opens one, the end of the
// book completes it, and the beginning of a completed book or a reset opens the next one.
import { type Entry, isSitting } from './entry.ts'

/** A completed pass. Times in ms since 1970. */
export type Pass = { startedAt: number; completedAt: number; device: number | null }

/** The current pass; null before the first reading and after a reset. */
export type CurrentPass = { startedAt: number; finishedAt: number | null }

export type Passes = { completed: Pass[]; current: CurrentPass | null }

/** Order of milestones at the same time. */
const kinds = ['restarted', 'completed', 'baseline', 'forget', 'reset'] as const
type Milestone = {
  at: number
  kind: (typeof kinds)[number]
  /** When the reading that led to it began. */
  from: number
  entry: Entry
}

/**
 * `after` is a completed pass from which the fold starts; the entries are all that end at or after its
 * completion. The result's completed passes do not include it.
 */
export function foldPasses(entries: readonly Entry[], after: Pass | null): Passes {
  const opened = openings(entries)
  const completed: Pass[] = []
  let since = Number.NEGATIVE_INFINITY
  let current: CurrentPass | null = after && {
    startedAt: after.startedAt,
    finishedAt: after.completedAt,
  }
  for (const { at, kind, from, entry } of milestonesOf(entries, after)) {
    if (current === null) {
      const startedAt = opened(since)
      if (startedAt <= at) current = { startedAt, finishedAt: null }
    }
    switch (kind) {
      case 'restarted':
        if (current?.finishedAt != null)
          current = { startedAt: Math.max(from, current.finishedAt), finishedAt: null }
        break
      case 'completed':
        current ??= { startedAt: at, finishedAt: null }
        if (current.finishedAt !== null) break
        current = { ...current, finishedAt: at }
        completed.push({ startedAt: current.startedAt, completedAt: at, device: entry.device })
        break
      case 'forget':
        if (completed.at(-1)?.completedAt === current?.finishedAt) completed.pop()
        break
      case 'baseline':
        current = { startedAt: from, finishedAt: entry.completedAt[0] ?? null }
        break
      case 'reset':
        current = null
        since = at
    }
  }
  if (current === null) {
    const startedAt = opened(since)
    if (startedAt < Number.POSITIVE_INFINITY) current = { startedAt, finishedAt: null }
  }
  return { completed, current }
}

function milestonesOf(entries: readonly Entry[], after: Pass | null): Milestone[] {
  const isLater = ({ at, kind }: Milestone) =>
    after === null ||
    at > after.completedAt ||
    (at === after.completedAt && (kind === 'reset' || kind === 'forget'))
  return entries
    .flatMap((entry): Milestone[] => {
      const { kind, startedAt, endedAt, isSession, restartedAt, completedAt } = entry
      if (kind === 'reset' || kind === 'forget' || kind === 'baseline')
        return [{ at: endedAt, kind, from: startedAt, entry }]
      return [
        ...restartedAt.map(at => ({
          ...{ at, kind: 'restarted' as const, entry },
          from: isSession ? startedAt : at,
        })),
        ...completedAt.map(at => ({ at, kind: 'completed' as const, from: startedAt, entry })),
      ]
    })
    .filter(isLater)
    .sort(
      (a, b) =>
        a.at - b.at ||
        kinds.indexOf(a.kind) - kinds.indexOf(b.kind) ||
        (a.entry.device ?? 0) - (b.entry.device ?? 0),
    )
}

/** When reading began after a time: that time itself during a sitting. Infinity if never. */
function openings(entries: readonly Entry[]): (since: number) => number {
  const sittings = entries.filter(isSitting).sort((a, b) => a.endedAt - b.endedAt)
  const earliest: number[] = []
  let first = Number.POSITIVE_INFINITY
  for (let i = sittings.length - 1; i >= 0; i--) {
    first = Math.min(first, sittings[i]!.startedAt)
    earliest[i] = first
  }
  return since => {
    const next = firstAfter(sittings, since)
    return next === sittings.length ? Number.POSITIVE_INFINITY : Math.max(since, earliest[next]!)
  }
}

/** The index of the first sitting that ends after a time. */
function firstAfter(sittings: readonly Entry[], time: number): number {
  let low = 0
  let high = sittings.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (sittings[middle]!.endedAt > time) high = middle
    else low = middle + 1
  }
  return low
}
