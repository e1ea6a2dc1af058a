// Measures of the charts: time, pages or finished books, with their formatting.
import type { Schemas } from '../api/client.ts'
import { formatDuration, formatNumber, type TextKey, t } from '../text/translate.ts'

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
