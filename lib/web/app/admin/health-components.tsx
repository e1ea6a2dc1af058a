// Components of the server with their measured values.

import type { ComponentChildren } from 'preact'
import { formatBytes, formatDuration, formatNumber, t } from '../text/translate.ts'
import { metricOf, type ServerMetrics } from './server-metrics.ts'

type ComponentsProps = { metrics: ServerMetrics | undefined; version: string | null }

export function Components({ metrics, version }: ComponentsProps) {
  if (!metrics) return null
  const build = metrics.get('stackroom_build_info')?.[0]?.labels ?? {}
  const value = (name: string) => metricOf(metrics, name)
  const startedAt = value('process_start_time_seconds')
  const lag = value('nodejs_eventloop_lag_p99_seconds')
  const connections = (metrics.get('db_connections') ?? []).reduce(
    (sum, { value }) => sum + value,
    0,
  )
  const roundTrip = value('db_round_trip_seconds')
  return (
    <div class="health-components">
      <Card
        title={t('health.server')}
        rows={[
          [t('health.version'), version ?? build.version],
          ['Node.js', build.node],
          [t('health.uptime'), startedAt && formatDuration(Date.now() / 1000 - startedAt)],
          [t('health.memory'), bytes(value('process_resident_memory_bytes'))],
          [t('health.lag'), milliseconds(lag)],
        ]}
      />
      <Card
        title={t('health.area.database')}
        isFailed={value('stackroom_database_up') === 0}
        rows={[
          ['PostgreSQL', build.database],
          [t('health.roundTrip'), milliseconds(roundTrip)],
          [t('field.fileSize'), bytes(value('db_size_bytes'))],
          [
            t('health.connections'),
            t('scan.of', { made: connections, total: value('db_connections_limit') ?? 0 }),
          ],
        ]}
      />
      <Storage metrics={metrics} />
    </div>
  )
}

const bytes = (value: number | null) => value && formatBytes(value)
const milliseconds = (seconds: number | null) =>
  seconds === null
    ? null
    : t('unit.ms', { count: formatNumber(seconds * 1000, { maximumFractionDigits: 1 }) })

const areas = ['database', 'thumbnails', 'covers', 'cache'] as const

function Storage({ metrics }: { metrics: ServerMetrics }) {
  const free = metricOf(metrics, 'data_disk_free_bytes')
  const size = metricOf(metrics, 'data_disk_size_bytes')
  const short = new Set(
    (metrics.get('storage_short') ?? [])
      .filter(({ value }) => value === 1)
      .map(({ labels }) => labels.area),
  )
  const rows = areas.map((area): Row => {
    const sample = metrics.get('storage_free_bytes')?.find(({ labels }) => labels.area === area)
    const text = sample && t('health.free', { size: formatBytes(sample.value) })
    // Usually all areas share one disk, whose free space was measured at slightly different times.
    const isSameDisk =
      free !== null && size !== null && Math.abs((sample?.value ?? 0) - free) < size / 50
    if (isSameDisk && !short.has(area)) return [t(`health.area.${area}`), null]
    return [
      t(`health.area.${area}`),
      short.has(area) ? (
        <span class="badge danger">
          {t('health.short')}
          {` ${text}`}
        </span>
      ) : (
        text
      ),
    ]
  })
  return (
    <Card
      title={t('health.storage')}
      isFailed={short.size > 0}
      rows={[
        [
          t('health.disk'),
          free !== null &&
            size !== null &&
            t('health.freeOf', { free: formatBytes(free), size: formatBytes(size) }),
        ],
        ...rows,
      ]}
    />
  )
}

type Row = [label: string, value: ComponentChildren]
type CardProps = { title: string; rows: readonly Row[]; isFailed?: boolean }

function Card({ title, rows, isFailed = false }: CardProps) {
  return (
    <section class="card">
      <header class="health-card-header">
        <h2>{title}</h2>
        <span class={`badge ${isFailed ? 'danger' : 'success'}`}>
          {t(isFailed ? 'health.failed' : 'health.good')}
        </span>
      </header>
      <dl class="facts">
        {rows
          .filter(([, value]) => value)
          .map(([label, value]) => [<dt key={label}>{label}</dt>, <dd>{value}</dd>])}
      </dl>
    </section>
  )
}
