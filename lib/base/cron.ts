// Cron expressions with five fields (minute to weekday), in croner's syntax, and their time zones.
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
 * Parses a valid expression; a null `zone` means the server's time zone. A time skipped by the clock runs at
 * the next existing one; a repeated one runs once.
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

/** Whether `name` is an IANA time zone (`Europe/Berlin`). */
export function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name })
    return true
  } catch {
    return false
  }
}
