// What the charts show: the period in the address, units of time, and measures with their formatting.
import type { Schemas } from '../api/client.ts'
import { formatDuration, formatNumber, type TextKey, t } from '../text/translate.ts'

export const periodNames = ['30', '90', '365', 'all'] as const
type PeriodName = (typeof periodNames)[number] | 'custom'
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

const dayCount = ({ from, to }: Period): number =>
  Math.round((Date.parse(to) - Date.parse(from)) / 86_400_000) + 1

export const unitOf = (query: URLSearchParams, period: Period): Unit =>
  units.find(unit => unit === query.get('by')) ??
  (dayCount(period) <= 100 ? 'day' : dayCount(period) <= 800 ? 'week' : 'month')

export const measureTexts = {
  time: 'label.time',
  pages: 'label.pages',
  books: 'label.books',
} as const satisfies Record<string, TextKey>
export type Measure = keyof typeof measureTexts
export const measures = Object.keys(measureTexts) as readonly Measure[]

type Amounts = Pick<Schemas['ReadingStatsPeriod'], 'duration' | 'pagesRead' | 'booksFinished'>

/** Time in minutes. */
export function amountOf(
  { duration, pagesRead, booksFinished }: Amounts,
  measure: Measure,
): number {
  if (measure === 'time') return duration.totalMs / 60_000
  return measure === 'pages' ? pagesRead : booksFinished
}

export function amountText(amount: number, measure: Measure): string {
  if (measure === 'time') return formatDuration(amount * 60)
  return measure === 'pages'
    ? t('count.pages', { count: amount })
    : t('count.books', { count: amount })
}

/** Without a unit, which the axis shows. */
export const tickText = (amount: number, measure: Measure): string =>
  measure === 'time' && amount > 0 ? formatDuration(amount * 60) : formatNumber(amount)

const minuteSteps = [5, 10, 15, 30, 60, 120, 180, 300, 600, 1200, 3000, 6000]

/** At most five axis values from 0; the last one is at or above the largest amount. */
export function ticksOf(largest: number, measure: Measure): number[] {
  const step = measure === 'time' ? timeStep(largest) : decimalStep(largest)
  const count = Math.max(1, Math.ceil(largest / step))
  return Array.from({ length: count + 1 }, (_, i) => i * step)
}

const timeStep = (largest: number) =>
  minuteSteps.find(step => largest / step <= 4) ?? decimalStep(largest)

function decimalStep(largest: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, largest / 4)))
  return [1, 2, 5, 10].map(factor => factor * power).find(step => largest / step <= 4) ?? power * 10
}
