// The charts of a period: totals, bars, calendar, rankings.
import type { ComponentChildren } from 'preact'
import type { Schemas } from '../api/client.ts'
import { address, href, setQuery } from '../routing/router.ts'
import {
  formatDuration,
  formatNumber,
  formatRelative,
  locale,
  type TextKey,
  t,
} from '../text/translate.ts'
import { type Bar, BarChart } from './bar-chart.tsx'
import { CalendarChart, daysBetween, longDay, streaksOf } from './calendar-chart.tsx'
import { ChartCard, Segments } from './chart-card.tsx'
import {
  amountOf,
  amountText,
  type Measure,
  measures,
  measureTexts,
  type Period,
  type Unit,
  units,
  unitTexts,
} from './measure.ts'

type Statistics = Schemas['ReadingStatsResponse']
type ChartsProps = { period: Period; unit: Unit; days: Statistics; bars: Statistics }

export function Charts({ period, unit, days, bars }: ChartsProps) {
  const measure = measures.find(name => name === address.value.query.get('measure')) ?? 'time'
  const amounts = new Map(days.periods.map(row => [row.bucket, amountOf(row, measure)]))
  const calendar = daysBetween(period.from, period.to, amounts)
  const sessions = new Map(days.periods.map(({ bucket, sessions }) => [bucket, sessions]))
  const streaks = streaksOf(daysBetween(period.from, period.to, sessions))
  const dayRows = () => ({
    columns: [t('field.day'), t(measureTexts[measure])],
    rows: calendar
      .filter(({ amount }) => amount > 0)
      .toReversed()
      .map(({ day, amount }) => [longDay(day), amountText(amount, measure)]),
  })
  const title = t(`statistics.chart.${measure}`)
  return (
    <div class="statistics-charts">
      <Totals summary={days.summary} streaks={streaks} />
      <ChartCard
        title={title}
        class="wide"
        controls={<ChartControls unit={unit} measure={measure} />}
        table={() => ({
          columns: [t(unitTexts[unit]), t(measureTexts[measure])],
          rows: barsOf(bars, unit, measure).map(({ label, amount }) => [
            label,
            amountText(amount, measure),
          ]),
        })}
      >
        <BarChart bars={barsOf(bars, unit, measure)} measure={measure} label={title} />
      </ChartCard>
      <ChartCard title={t('statistics.calendar')} class="wide" table={dayRows}>
        <CalendarChart days={calendar} measure={measure} label={t('statistics.calendar')} />
      </ChartCard>
      <Rankings statistics={days} measure={measure} />
    </div>
  )
}

function ChartControls({ unit, measure }: { unit: Unit; measure: Measure }) {
  return (
    <>
      <Segments<Measure>
        label={t('statistics.measure')}
        values={measures}
        value={measure}
        textOf={value => t(measureTexts[value])}
        onChange={value =>
          setQuery({ measure: value === 'time' ? null : value }, { replace: true })
        }
      />
      <Segments<Unit>
        label={t('statistics.unit')}
        values={units}
        value={unit}
        textOf={value => t(unitTexts[value])}
        onChange={value => setQuery({ by: value }, { replace: true })}
      />
    </>
  )
}

type TotalsProps = { summary: Statistics['summary']; streaks: ReturnType<typeof streaksOf> }

function Totals({ summary, streaks }: TotalsProps) {
  const { duration, pagesRead, booksFinished, sessions } = summary
  const { current, longest, activeDays } = streaks
  const perDay = activeDays > 0 ? duration.totalMs / activeDays / 1000 : 0
  const tiles = [
    [formatDuration(duration.totalMs / 1000), t('statistics.chart.time')],
    [formatNumber(booksFinished), t('statistics.total.books', { count: booksFinished })],
    [formatNumber(pagesRead), t('statistics.total.pages', { count: pagesRead })],
    [formatNumber(sessions), t('statistics.total.sessions', { count: sessions })],
    [formatDuration(perDay), t('statistics.total.perDay')],
    [t('count.days', { count: current }), t('statistics.total.streak')],
    [t('count.days', { count: longest }), t('statistics.total.longest')],
  ]
  return (
    <dl class="statistics-totals">
      {tiles.map(([value, name]) => (
        <div key={name} class="card">
          <dd>{value}</dd>
          <dt>{name}</dt>
        </div>
      ))}
    </dl>
  )
}

function barsOf({ periods }: Statistics, unit: Unit, measure: Measure): Bar[] {
  const options =
    unit === 'month'
      ? ({ month: 'short', year: '2-digit' } as const)
      : ({ day: 'numeric', month: 'short' } as const)
  const short = new Intl.DateTimeFormat(locale(), { ...options, timeZone: 'UTC' })
  const month = new Intl.DateTimeFormat(locale(), {
    month: 'long',
    year: 'numeric',
    timeZone: 'UTC',
  })
  return periods.map(row => {
    const date = new Date(`${row.bucket}T12:00:00Z`)
    const label = {
      day: longDay(row.bucket),
      week: t('statistics.weekOf', { date: longDay(row.bucket) }),
      month: month.format(date),
    }[unit]
    const [shortLabel, amount] = [short.format(date), amountOf(row, measure)]
    return { key: row.bucket, label, shortLabel, amount }
  })
}

function Rankings({ statistics, measure }: { statistics: Statistics; measure: Measure }) {
  const { series, formats, devices } = statistics
  const row = (amounts: Parameters<typeof amountOf>[0]) => {
    const amount = amountOf(amounts, measure)
    return { amount, text: amountText(amount, measure) }
  }
  const groups: {
    title: TextKey
    column: TextKey
    rows: (RankingRow & { plain: string })[]
  }[] = [
    {
      title: 'label.series',
      column: 'statistics.column.series',
      rows: series.map(entry => ({
        key: entry.seriesId,
        plain: entry.seriesName,
        name: <a href={href(`series/${entry.seriesId}`)}>{entry.seriesName}</a>,
        ...row(entry),
      })),
    },
    {
      title: 'libraryOptions.formats',
      column: 'field.format',
      rows: formats.map(entry => ({
        key: entry.format,
        plain: entry.format.toUpperCase(),
        name: entry.format.toUpperCase(),
        ...row(entry),
      })),
    },
    {
      title: 'statistics.by.devices',
      column: 'statistics.column.devices',
      rows: devices.map(entry => {
        const name = entry.deviceName ?? entry.deviceId
        const detail = t('statistics.lastRead', { time: formatRelative(entry.lastReadAt) })
        return { key: entry.deviceId, plain: name, name, detail, ...row(entry) }
      }),
    },
  ]
  return groups
    .filter(({ rows }) => rows.length > 0)
    .map(({ title, column, rows }) => {
      const sorted = rows.toSorted((a, b) => b.amount - a.amount)
      return (
        <ChartCard
          key={title}
          title={t(title)}
          table={() => ({
            columns: [t(column), t(measureTexts[measure])],
            rows: sorted.map(({ plain, text }) => [plain, text]),
          })}
        >
          <Ranking rows={sorted} />
        </ChartCard>
      )
    })
}

type RankingRow = {
  key: string
  name: ComponentChildren
  /** Below the name. */
  detail?: string
  amount: number
  text: string
}

function Ranking({ rows }: { rows: readonly RankingRow[] }) {
  const largest = Math.max(1, ...rows.map(({ amount }) => amount))
  return (
    <ol class="ranking">
      {rows.map(({ key, name, detail, amount, text }) => (
        <li key={key}>
          <div class="ranking-line">
            <span class="ranking-name ellipsis" dir="auto">
              {name}
            </span>
            <span class="ranking-amount">{text}</span>
          </div>
          <span class="progress-bar" aria-hidden>
            <span style={{ width: `${(amount / largest) * 100}%` }} />
          </span>
          {detail && <span class="secondary-text ranking-detail">{detail}</span>}
        </li>
      ))}
    </ol>
  )
}
