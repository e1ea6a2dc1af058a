// Reading statistics: totals, time by day, week and month, series, formats, devices, streaks.
import { api, body } from '../api/client.ts'
import { useResource } from '../api/resource.ts'
import { useReloadOnEvents } from '../lists/list-events.ts'
import { address, href, setQuery } from '../routing/router.ts'
import { t } from '../text/translate.ts'
import { EmptyState } from '../ui/empty-state.tsx'
import { ErrorState } from '../ui/error-state.tsx'
import { PageHeader } from '../ui/page-header.tsx'
import { Charts } from './charts.tsx'
import { HistoryActions } from './history-actions.tsx'
import { addDays, dayText, type Period, periodNames, periodOf, timeZone, unitOf } from './period.ts'

export function View() {
  const coverage = useResource('/reading-stats/coverage', signal =>
    body(api.GET('/api/v1/reading-stats/coverage', { signal })),
  )
  const { query } = address.value
  const firstReadAt = coverage.data?.firstReadAt
  const period = periodOf(query, firstReadAt ? dayText(new Date(firstReadAt)) : null)
  const unit = unitOf(query, period)
  const range = { from: period.from, to: addDays(period.to, 1), timeZone: timeZone() }
  // Only “all time” depends on the first day.
  const isReady = coverage.data !== undefined || period.name !== 'all'
  const load = (granularity: typeof unit) => (signal: AbortSignal) => {
    const parameters = { ...range, granularity, fill: true, seriesLimit: 10 }
    return body(api.GET('/api/v1/reading-stats', { params: { query: parameters }, signal }))
  }
  const key = (granularity: string) =>
    isReady ? `/reading-stats?${granularity}:${Object.values(range).join()}` : null
  const days = useResource(key('day'), load('day'))
  const bars = useResource(unit === 'day' ? null : key(unit), load(unit))
  const shownBars = unit === 'day' ? days : bars
  const reload = () => {
    coverage.reload()
    days.reload()
    bars.reload()
  }
  useReloadOnEvents(({ type }) => type === 'progress_updated', reload)
  const error = coverage.error ?? days.error ?? bars.error
  const hasNothing = coverage.data?.firstReadAt === null
  return (
    <div class="statistics-page">
      <PageHeader
        title={t('nav.statistics')}
        actions={hasNothing ? undefined : <HistoryActions onDeleted={reload} />}
      />
      {error && !days.data ? (
        <ErrorState error={error} onRetry={reload} />
      ) : hasNothing ? (
        <EmptyState
          icon="chart"
          title={t('statistics.none')}
          text={t('statistics.noneText')}
          action={
            <a class="button" href={href('')}>
              {t('nav.home')}
            </a>
          }
        />
      ) : (
        <>
          <PeriodChooser period={period} />
          {days.data && shownBars.data ? (
            <Charts period={period} unit={unit} days={days.data} bars={shownBars.data} />
          ) : (
            <div class="view-loading" aria-busy />
          )}
        </>
      )}
    </div>
  )
}

function PeriodChooser({ period }: { period: Period }) {
  const { name, from, to } = period
  const setDates = (from: string, to: string) => {
    if (from && to && from <= to) setQuery({ from, to, period: null }, { replace: true })
  }
  const dateInput = (label: string, value: string, change: (value: string) => void) => (
    <label class="inline-field">
      <span>{label}</span>
      <input
        type="date"
        class="control"
        value={value}
        max={dayText(new Date())}
        onChange={event => change(event.currentTarget.value)}
      />
    </label>
  )
  return (
    <div class="statistics-period">
      <div class="segments" role="group" aria-label={t('statistics.period')}>
        {periodNames.map(option => (
          <button
            key={option}
            type="button"
            aria-pressed={option === name}
            onClick={() => setQuery({ period: option, from: null, to: null })}
          >
            {t(`statistics.period.${option}`)}
          </button>
        ))}
      </div>
      {dateInput(t('label.from'), from, value => setDates(value, to))}
      {dateInput(t('label.to'), to, value => setDates(from, value))}
    </div>
  )
}
