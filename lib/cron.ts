// Schedules as users write them: five fields, minute to weekday, and the zone they are meant in.
import { Cron } from 'croner'

//   field := part (',' part)*      part := ('*' | value ['-' value]) ['/' step]
const fields = [
  { name: 'minute', from: 0, to: 59, words: [] },
  { name: 'hour', from: 0, to: 23, words: [] },
  { name: 'day of the month', from: 1, to: 31, words: [] },
  {
    name: 'month',
    from: 1,
    to: 12,
    words: ['', 'jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'],
  },
  {
    name: 'weekday',
    from: 0,
    to: 7,
    words: ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'],
  },
]
type Field = (typeof fields)[number]

const shape = /^(?:(\*)|(\w{1,3})(?:-(\w{1,3}))?)(?:\/(\d{1,2}))?$/

/** What is wrong with a cron expression, in words; null when it is right. */
export function cronFault(expression: string): string | null {
  const parts = expression.trim().split(/\s+/)
  if (parts.length !== fields.length) return 'A schedule has five fields, e.g. 0 */6 * * *'
  const wrong = fields.find((field, i) => !parts[i]!.split(',').every(part => isPart(field, part)))
  if (wrong)
    return `The ${wrong.name} of the schedule is none (it goes from ${wrong.from} to ${wrong.to})`
  return readCron(expression, 'UTC').nextRun() === null ? 'The schedule never comes' : null
}

/**
 * A right cron expression, to ask when it comes; without a zone it is meant in the server's own. Of a
 * time that the clock skips, the next one there is counts; one that comes twice counts once.
 */
export function readCron(expression: string, zone: string | null): Cron {
  return new Cron(expression.trim(), {
    mode: '5-part',
    paused: true,
    sloppyRanges: true,
    fixedTimeRule: 'no-wildcard',
    ...(zone ? { timezone: zone } : {}),
  })
}

function isPart(field: Field, part: string): boolean {
  const [, any, first, last, step] = shape.exec(part) ?? []
  if (any === undefined && first === undefined) return false
  if (step !== undefined && (Number(step) === 0 || Number(step) > longestStep(field))) return false
  const from = first === undefined ? field.from : valueIn(field, first)
  const to = last === undefined ? from : valueIn(field, last)
  return from !== null && to !== null && from <= to
}

// Sunday is the first of seven days and, for those who count so, an eighth.
function longestStep({ name, from, to }: Field): number {
  return name === 'weekday' ? 7 : to - from + 1
}

function valueIn({ from, to, words }: Field, text: string): number | null {
  const named = text === '' ? -1 : words.indexOf(text.toLowerCase())
  const value = named >= 0 ? named : /^\d{1,2}$/.test(text) ? Number(text) : Number.NaN
  return value >= from && value <= to ? value : null
}

/** Whether this is the IANA name of a time zone (`Europe/Berlin`). */
export function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name })
    return true
  } catch {
    return false
  }
}
