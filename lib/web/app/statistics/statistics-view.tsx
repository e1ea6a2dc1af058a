// Reading statistics: totals, time by day, week and month, series, formats, devices, streaks; export and deletion of the history.
import { api, body } from '../api/client.ts'
import { useGet, useResource } from '../api/resource.ts'
import { can } from '../api/session.ts'
import { useReloadOnEvents } from '../lists/list-events.ts'
import { saveFile } from '../organize/files.ts'
import { address, setQuery } from '../routing/router.ts'
import { t } from '../text/translate.ts'
import { ButtonLink } from '../ui/button.tsx'
import { useConfirm } from '../ui/dialog.tsx'
import { Icon } from '../ui/icon.tsx'
import { Menu, MenuButton } from '../ui/menu.tsx'
import { PageHeader } from '../ui/page-header.tsx'
import { EmptyState, ErrorState, Loading } from '../ui/state.tsx'
import { showNotice } from '../ui/toast.tsx'
import { Segments } from './chart-card.tsx'
import { Charts } from './charts.tsx'
import {
  addDays,
  dayText,
  type Period,
  periodNames,
  periodOf,
  timeZone,
  unitOf,
} from './measure.ts'

export function View() {
  const coverage = useGet('/api/v1/reading-stats/coverage')
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
          action={<ButtonLink path="" text={t('nav.home')} />}
        />
      ) : (
        <>
          <PeriodChooser period={period} />
          {days.data && shownBars.data ? (
            <Charts period={period} unit={unit} days={days.data} bars={shownBars.data} />
          ) : (
            <Loading />
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
    <div class="row statistics-period">
      <Segments<(typeof periodNames)[number]>
        label={t('statistics.period')}
        values={periodNames}
        value={name}
        textOf={option => t(`statistics.period.${option}`)}
        onChange={period => setQuery({ period, from: null, to: null })}
      />
      {dateInput(t('label.from'), from, value => setDates(value, to))}
      {dateInput(t('label.to'), to, value => setDates(from, value))}
    </div>
  )
}

async function exportHistory(format: 'json' | 'csv') {
  const { data } = await api.GET('/api/v1/user/reading-export', {
    params: { query: { format } },
    parseAs: 'blob',
  })
  saveFile(data as Blob, `reading-${dayText(new Date())}.${format}`)
}

function HistoryActions({ onDeleted }: { onDeleted: () => void }) {
  const exportItem = (format: 'json' | 'csv', text: string) => (
    <MenuButton icon="download" text={text} onClick={() => exportHistory(format)} />
  )
  const remove = async () => {
    await api.DELETE('/api/v1/user/read-history')
    showNotice(t('statistics.deleted'))
    onDeleted()
  }
  const { ask, dialog } = useConfirm({
    title: t('statistics.deleteTitle'),
    text: t('statistics.deleteText'),
    action: t('statistics.delete'),
    onConfirm: remove,
  })
  return (
    <>
      <Menu label={t('action.more')} trigger={<Icon name="more" />}>
        {exportItem('csv', t('statistics.exportCsv'))}
        {exportItem('json', t('statistics.exportJson'))}
        {(can('ProgressWrite') || can('BooksWrite')) && (
          <MenuButton icon="delete" isDanger text={t('statistics.delete')} onClick={ask} />
        )}
      </Menu>
      {dialog}
    </>
  )
}
