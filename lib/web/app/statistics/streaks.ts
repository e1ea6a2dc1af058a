// Streaks: consecutive days with reading.
import type { Day } from './calendar-chart.tsx'

export type Streaks = { current: number; longest: number; activeDays: number }

/** `days`: in order and without gaps; today may have no reading yet. */
export function streaksOf(days: readonly Day[]): Streaks {
  let longest = 0
  let run = 0
  let activeDays = 0
  for (const { amount } of days) {
    run = amount > 0 ? run + 1 : 0
    if (amount > 0) activeDays++
    longest = Math.max(longest, run)
  }
  const last = days.at(-1)
  const past = last && last.amount === 0 ? days.slice(0, -1) : days
  let current = 0
  for (const { amount } of past.toReversed()) {
    if (amount === 0) break
    current++
  }
  return { current, longest, activeDays }
}
