// Statistics period in the address: a number of days until today, all time, or two dates.
import type { Schemas } from '../api/client.ts'
import type { TextKey } from '../text/translate.ts'

export const periodNames = ['30', '90', '365', 'all'] as const
export type PeriodName = (typeof periodNames)[number] | 'custom'
export type Unit = Schemas['ReadingStatsResponse']['granularity']
export const unitTexts = {
  day: 'field.day',
  week: 'statistics.week',
  month: 'field.month',
} as const satisfies Record<Unit, TextKey>
export const units = Object.keys(unitTexts) as readonly Unit[]

export type Period = {
  name: PeriodName
  /** First day, as `2026-05-01`. */
  from: string
  /** Last day. */
  to: string
}

export const timeZone = () => Intl.DateTimeFormat().resolvedOptions().timeZone

/** A day of the local calendar as `2026-05-01`. */
export function dayText(date: Date): string {
  const pad = (value: number) => String(value).padStart(2, '0')
  return `${date.getFullYear()}-${pad(date.getMonth() + 1)}-${pad(date.getDate())}`
}

export function addDays(day: string, days: number): string {
  const date = new Date(`${day}T12:00:00Z`)
  date.setUTCDate(date.getUTCDate() + days)
  return date.toISOString().slice(0, 10)
}

const isDay = (text: string | null): text is string =>
  text !== null && /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text))

// The server's maximum period in days.
const maxDays = 3_650

/** `firstDay`: the first day with recorded reading, or null. */
export function periodOf(query: URLSearchParams, firstDay: string | null): Period {
  const today = dayText(new Date())
  const [from, to] = [query.get('from'), query.get('to')]
  if (isDay(from) && isDay(to) && from <= to)
    return { name: 'custom', from: latest(from, addDays(to, -maxDays)), to }
  const name = periodNames.find(name => name === query.get('period')) ?? '90'
  if (name !== 'all') return { name, from: addDays(today, 1 - Number(name)), to: today }
  return {
    name,
    from: latest(firstDay ?? addDays(today, -29), addDays(today, -maxDays)),
    to: today,
  }
}

const latest = (a: string, b: string) => (a > b ? a : b)

export const dayCount = ({ from, to }: Period): number =>
  Math.round((Date.parse(to) - Date.parse(from)) / 86_400_000) + 1

export const unitOf = (query: URLSearchParams, period: Period): Unit =>
  units.find(unit => unit === query.get('by')) ??
  (dayCount(period) <= 100 ? 'day' : dayCount(period) <= 800 ? 'week' : 'month')
