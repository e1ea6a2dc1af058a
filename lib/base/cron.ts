// Cron expressions with five fields (minute to weekday) and their time zones. The syntax is that of croner.
import { Cron } from 'croner'

const fields = [
  'minute (0-59)',
  'hour (0-23)',
  'day of the month (1-31)',
  'month (1-12)',
  'weekday (0-7)',
]

/** What is wrong with a cron expression, for users; null when it is valid. */
export function cronError(expression: string): string | null {
  const parts = expression.trim().split(/\s+/)
  // croner also takes dates and nicknames such as @daily.
  if (parts.length !== fields.length) return 'A schedule has five fields, e.g. 0 */6 * * *'
  const invalid = fields.find((_, i) => !parses(fields.map((_, j) => (i === j ? parts[i] : '*'))))
  if (invalid) return `Invalid ${invalid}`
  return parseCron(expression, 'UTC').nextRun() === null ? 'The schedule never fires' : null
}

function parses(parts: (string | undefined)[]): boolean {
  try {
    parseCron(parts.join(' '), 'UTC')
    return true
  } catch {
    return false
  }
}

/**
 * Parses a valid expression; `zone` null means the zone of the server. A time that the clock skips runs
 * at the next one that exists; one that the clock repeats runs once.
 */
export function parseCron(expression: string, zone: string | null): Cron {
  return new Cron(expression.trim(), {
    mode: '5-part',
    paused: true,
    sloppyRanges: true,
    fixedTimeRule: 'no-wildcard',
    ...(zone ? { timezone: zone } : {}),
  })
}

/** True for the IANA name of a time zone (`Europe/Berlin`). */
export function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name })
    return true
  } catch {
    return false
  }
}
