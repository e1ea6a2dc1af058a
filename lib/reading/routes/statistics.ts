// The caller's reading statistics, and totals of all accounts for administrators.
import { Invalid } from '../../base/errors.ts'
import {
  component,
  count,
  list,
  maybe,
  nullable,
  oneOf,
  record,
  type Static,
  Type,
  timestamp,
  uuid,
} from '../../base/schema.ts'
import { route } from '../../http/route.ts'
import type { Queryable } from '../../store/postgres/db.ts'
import {
  granularities,
  localTime,
  readingCoverage,
  readingStatistics,
  readingTotals,
} from '../statistics.ts'

const dayMs = 24 * 60 * 60_000
const defaultDays = 90
const maxSeries = 50
/** For a list of periods without gaps. */
const maxPeriods = 4_000

const Duration = component('ReadingDuration', {
  inferredMs: count({
    description:
      'Time between the positions a client wrote; an underestimate, because it excludes the reading of downloaded books.',
  }),
  measuredMs: count({ description: 'Time measured by clients.' }),
  totalMs: count({ description: 'Sum of inferred and measured time.' }),
})

const common = {
  duration: Duration,
  pagesRead: count({ description: 'Pages counted by clients.' }),
  sessions: count({ description: 'Number of sittings, after merging adjacent writes.' }),
  booksFinished: count({ description: 'Completed passes through books.' }),
}

const ReadingStats = component('ReadingStatsResponse', {
  from: timestamp({ description: 'Start of the window.' }),
  to: timestamp({ description: 'End of the window, exclusive.' }),
  granularity: oneOf(granularities),
  summary: component('ReadingStatsSummary', {
    books: count({ description: 'Number of different books that were read or finished.' }),
    ...common,
    sessionsWithoutDuration: count({
      description: 'Number of sittings whose client reported no time.',
    }),
    sessionsWithoutPages: count({
      description: 'Number of sittings whose client reported no page count.',
    }),
  }),
  periods: list(
    component('ReadingStatsPeriod', {
      bucket: Type.String({
        format: 'date',
        description: 'First day; weeks start on Monday.',
      }),
      ...common,
    }),
  ),
  series: list(
    component('ReadingStatsSeries', {
      seriesId: uuid(),
      seriesName: Type.String(),
      books: count(),
      ...common,
    }),
    { description: 'Excludes series that are hidden from the caller.' },
  ),
  formats: list(component('ReadingStatsFormat', { format: Type.String(), ...common }), {
    description: '`unknown` stands for deleted books.',
  }),
  devices: list(
    component('ReadingStatsDevice', {
      deviceId: Type.String(),
      deviceName: nullable(Type.String()),
      lastReadAt: timestamp(),
      ...common,
    }),
  ),
})

const day = (description: string) =>
  maybe(
    Type.String({
      maxLength: 40,
      description: `${description} A time (RFC 3339), or a date: the start of that day in the time zone.`,
    }),
  )

const windowQuery = {
  from: day('Start of the window; defaults to 90 days before its end.'),
  to: day('End of the window, exclusive; defaults to now.'),
  timeZone: maybe(
    Type.String({
      maxLength: 64,
      default: 'UTC',
      description: 'IANA name of the time zone for days, weeks and months.',
    }),
  ),
}

export const readingStats = [
  route('GET /reading-stats', {
    operationId: 'getReadingStats',
    permission: 'ProgressRead',
    summary: 'Get reading statistics of the caller',
    description: 'Sittings belong to the period in which they began.',
    query: record({
      ...windowQuery,
      granularity: maybe(
        oneOf(granularities, {
          default: 'day',
          description: 'Length of the periods; weeks start on Monday.',
        }),
      ),
      seriesLimit: maybe(
        Type.Integer({
          default: 10,
          minimum: -Number.MAX_SAFE_INTEGER,
          maximum: Number.MAX_SAFE_INTEGER,
          description: `Number of series, from 1 to ${maxSeries}; other numbers are clamped.`,
        }),
      ),
      sort: maybe(
        oneOf(['time', 'pages', 'completions'], {
          default: 'time',
          description: 'Order of series, formats and devices, highest first.',
        }),
      ),
      fill: maybe(Type.Boolean({ description: 'Includes periods in which nothing was read.' })),
    }),
    responses: { 200: ReadingStats },
    async handle({ query, viewer }, { sql }) {
      const { granularity = 'day', sort = 'time', fill = false } = query
      const window = await windowOf(sql, query)
      const { from, to, timeZone } = window
      if (fill && (to.getTime() - from.getTime()) / dayMs > maxPeriods)
        throw new Invalid(`With fill=true the limit is ${maxPeriods} days`)
      const seriesLimit = Math.min(Math.max(query.seriesLimit ?? 10, 1), maxSeries)
      const request = { from, to, timeZone, granularity, sort, fill, seriesLimit }
      const found = await readingStatistics(sql, viewer, request)
      return {
        ...{ from, to, granularity, summary: withDuration(found.summary) },
        periods: found.periods.map(withDuration),
        series: found.series.map(withDuration),
        formats: found.formats.map(withDuration),
        devices: found.devices.map(device => ({
          ...withDuration(device),
          lastReadAt: new Date(device.lastReadAt),
        })),
      }
    },
  }),
  route('GET /reading-stats/coverage', {
    operationId: 'getReadingCoverage',
    permission: 'ProgressRead',
    summary: 'Get when the caller first and last read',
    description: 'Null if nothing was recorded.',
    responses: {
      200: component('ReadingCoverage', {
        firstReadAt: nullable(timestamp()),
        lastReadAt: nullable(timestamp()),
      }),
    },
    handle: ({ viewer }, { sql }) => readingCoverage(sql, viewer.accountId),
  }),
  route('GET /reading-stats/totals', {
    operationId: 'getReadingTotals',
    permission: 'UsersRead',
    summary: 'Get reading totals of all users',
    description: 'Contains no books, names or users.',
    query: record(windowQuery),
    responses: {
      200: component('ReadingTotals', {
        from: timestamp(),
        to: timestamp(),
        users: count({ description: 'Number of users who read in the window.' }),
        books: count(),
        ...common,
      }),
    },
    async handle({ query }, { sql }) {
      const { from, to } = await windowOf(sql, query)
      const { accounts, ...totals } = await readingTotals(sql, { from, to })
      return { from, to, users: accounts, ...withDuration(totals) }
    },
  }),
]

function withDuration<T extends { inferredMs: number; measuredMs: number }>({
  inferredMs,
  measuredMs,
  ...row
}: T) {
  return { ...row, duration: { inferredMs, measuredMs, totalMs: inferredMs + measuredMs } }
}

type WindowQuery = Static<ReturnType<typeof record<typeof windowQuery>>>

/** Throws Invalid. */
async function windowOf(sql: Queryable, query: WindowQuery) {
  const timeZone = await requireTimeZone(sql, query.timeZone ?? 'UTC')
  const to = query.to === undefined ? new Date() : await parseTime(sql, 'to', query.to, timeZone)
  const from =
    query.from === undefined
      ? new Date(to.getTime() - defaultDays * dayMs)
      : await parseTime(sql, 'from', query.from, timeZone)
  if (to < from) throw new Invalid('query/to is before query/from')
  return { from, to, timeZone }
}

async function requireTimeZone(sql: Queryable, name: string): Promise<string> {
  if (name === 'UTC') return name
  try {
    // PostgreSQL also accepts abbreviations, and offsets, which it reads with the opposite sign.
    if (/^[a-z]/i.test(name)) new Intl.DateTimeFormat('en', { timeZone: name })
    else throw new RangeError(name)
    // Node.js also accepts withdrawn names, and newer ones.
    await localTime(sql, '2000-01-01', name)
  } catch (error) {
    const { code } = error as { code?: unknown }
    if (error instanceof RangeError || code === invalidParameterValue)
      throw new Invalid('query/timeZone is not a time zone')
    throw error
  }
  return name
}

const invalidParameterValue = '22023'

async function parseTime(sql: Queryable, name: string, text: string, timeZone: string) {
  const isDate = /^\d{4}-\d\d-\d\d$/.test(text)
  // In a query, an unescaped plus is a space.
  const sent = text.replace(/ (?=\d\d:?\d\d$)/, '+')
  const isTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)$/i.test(sent)
  const time = new Date(isDate ? `${text}T00:00:00Z` : sent)
  const year = time.getUTCFullYear()
  // The time zone and the default of the other end can shift the date by up to a year.
  const isStorable = year >= 2 && year <= 9998
  const isReal = isStorable && (!isDate || time.toISOString().startsWith(text))
  if (!(isDate || isTime) || !isReal) throw new Invalid(`query/${name} is not a time or a date`)
  return isDate ? await localTime(sql, text, timeZone) : time
}
