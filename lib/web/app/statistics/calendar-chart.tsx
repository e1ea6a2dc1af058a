// Calendar chart as SVG: one column per week, darker with more reading; streaks of days.
import { useEffect, useState } from 'preact/hooks'
import { locale, t } from '../text/translate.ts'
import { isRightToLeft, useWidth } from '../ui/layout.ts'
import { addDays, amountText, type Measure } from './measure.ts'

type Day = { day: string; amount: number }

type CalendarChartProps = { days: readonly Day[]; measure: Measure; label: string }

const minCell = 13
const maxCell = 22
const gap = 3
const monthHeight = 18
const levels = 4

/** 1 is Monday, 7 is Sunday. */
function firstWeekday(): number {
  const known = new Intl.Locale(locale()) as Intl.Locale & {
    getWeekInfo?: () => { firstDay: number }
    weekInfo?: { firstDay: number }
  }
  return (known.getWeekInfo?.() ?? known.weekInfo)?.firstDay ?? 1
}

const clampCell = (fitting: number) => Math.max(minCell, Math.min(maxCell, fitting))
const weekdayOf = (day: string) => (new Date(`${day}T12:00:00Z`).getUTCDay() + 6) % 7

export function CalendarChart({ days, measure, label }: CalendarChartProps) {
  const { ref, width } = useWidth()
  const [active, setActive] = useState<Day | null>(null)
  useEffect(() => {
    // The latest days matter most.
    const element = ref.current!
    element.scrollLeft = isRightToLeft() ? -element.scrollWidth : element.scrollWidth
  }, [days, width])
  if (days.length === 0) return <div ref={ref} />
  const start = firstWeekday() - 1
  const rowOf = (day: string) => (weekdayOf(day) - start + 7) % 7
  const offset = rowOf(days[0]!.day)
  const largest = Math.max(1, ...days.map(({ amount }) => amount))
  const columns = Math.ceil((days.length + offset) / 7)
  const labels = weekdayLabels(start)
  const side = 40
  const cell = clampCell(Math.floor((width - side) / columns) - gap)
  const pitch = cell + gap
  const size = { width: side + columns * pitch, height: monthHeight + 7 * pitch }
  const reversed = isRightToLeft()
  const x = (column: number) =>
    reversed ? size.width - side - (column + 1) * pitch + gap : side + column * pitch
  return (
    <div>
      <div class="calendar-scroll" ref={ref} tabIndex={0} role="group" aria-label={label}>
        <svg
          {...size}
          role="img"
          aria-label={`${label}. ${t('statistics.asTable')}`}
          onPointerLeave={() => setActive(null)}
        >
          {[0, 2, 4].map(row => (
            <text
              key={row}
              class="chart-text"
              x={reversed ? size.width - side + 8 : side - 8}
              y={monthHeight + row * pitch + cell / 2 + 4}
              text-anchor="end"
            >
              {labels[row]}
            </text>
          ))}
          {monthLabels(days, offset).map(({ column, text }) => (
            <text
              key={column}
              class="chart-text"
              x={reversed ? x(column) + cell : x(column)}
              y={12}
            >
              {text}
            </text>
          ))}
          {days.map((day, i) => {
            const level = day.amount === 0 ? 0 : Math.ceil((day.amount / largest) * levels)
            return (
              <rect
                key={day.day}
                class={`calendar-day level-${level}`}
                x={x(Math.floor((i + offset) / 7))}
                y={monthHeight + ((i + offset) % 7) * pitch}
                width={cell}
                height={cell}
                rx={3}
                onPointerEnter={() => setActive(day)}
              />
            )
          })}
        </svg>
      </div>
      <div class="calendar-footer">
        <span>
          {active ? `${longDay(active.day)}: ${amountText(active.amount, measure)}` : ' '}
        </span>
        <span class="calendar-legend" aria-hidden>
          {t('statistics.less')}
          {[0, 1, 2, 3, 4].map(level => (
            <i key={level} class={`calendar-day level-${level}`} />
          ))}
          {t('action.more')}
        </span>
      </div>
    </div>
  )
}

export const longDay = (day: string) =>
  new Intl.DateTimeFormat(locale(), { dateStyle: 'medium', timeZone: 'UTC' }).format(
    new Date(`${day}T12:00:00Z`),
  )

function weekdayLabels(start: number): string[] {
  const format = new Intl.DateTimeFormat(locale(), { weekday: 'short', timeZone: 'UTC' })
  // 1 January 2024 was a Monday.
  return Array.from({ length: 7 }, (_, i) =>
    format.format(new Date(Date.UTC(2024, 0, 1 + start + i, 12))),
  )
}

/** Labels at the first week of each month, where there is space. */
function monthLabels(days: readonly Day[], offset: number) {
  const format = new Intl.DateTimeFormat(locale(), { month: 'short', timeZone: 'UTC' })
  const labels: { column: number; text: string }[] = []
  days.forEach(({ day }, i) => {
    if (i > 0 && !day.endsWith('-01')) return
    const column = Math.floor((i + offset) / 7)
    const isNear = (labels.at(-1)?.column ?? -10) > column - 3
    const isMonthStart = day.endsWith('-01')
    if (isNear && isMonthStart && labels.length === 1) labels.pop()
    else if (isNear) return
    labels.push({ column, text: format.format(new Date(`${day}T12:00:00Z`)) })
  })
  return labels
}

/** All days of a period, including days without data. */
export function daysBetween(from: string, to: string, amounts: ReadonlyMap<string, number>): Day[] {
  const days: Day[] = []
  for (let day = from; day <= to; day = addDays(day, 1))
    days.push({ day, amount: amounts.get(day) ?? 0 })
  return days
}

type Streaks = { current: number; longest: number; activeDays: number }

/** Consecutive days with reading. `days`: in order and without gaps; today may have no reading yet. */
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
