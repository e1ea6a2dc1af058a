// Health of the server: what is degraded, its components, and what changed while the page was open.

import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { api, body, type Schemas } from '../api/client.ts'
import { ApiError } from '../api/errors.ts'
import { connection } from '../api/events.ts'
import { useLibraries, useResource } from '../api/resource.ts'
import { href } from '../routing/router.ts'
import { messageOf } from '../text/error-message.ts'
import { formatBytes, formatDate, formatDuration, formatNumber, t } from '../text/translate.ts'
import { Icon } from '../ui/icon.tsx'
import { NameLink } from '../ui/name.tsx'
import { useInterval } from '../ui/timing.ts'
import { AdminFrame } from './admin-frame.tsx'
import {
  libraryProblem,
  loadServerMetrics,
  metricOf,
  type ServerMetrics,
} from './server-metrics.ts'

type Health = Schemas['Health']
type Change = { at: number; state: State; text: string }
type State = 'ok' | 'degraded' | 'unavailable'

const checkEveryMs = 5_000
const maxChanges = 50
/** Covers this visit, also while other pages are shown. */
const changes: Change[] = []

export function View() {
  const health = useHealth()
  const metrics = useResource('server-metrics', loadServerMetrics)
  const libraries = useLibraries()
  useInterval(() => {
    metrics.reload()
    libraries.reload()
  }, checkEveryMs)
  const problems = (libraries.data ?? []).flatMap(library => {
    const text = libraryProblem(library, { metrics: metrics.data })
    return text === null ? [] : [{ library, text }]
  })
  return (
    <AdminFrame title={t('admin.health')}>
      <StatusCard health={health} />
      {problems.length > 0 && (
        <ul class="stack health-problems">
          {problems.map(({ library, text }) => (
            <li key={library.id} class="notice danger">
              <NameLink path={`admin/libraries/${library.id}`} name={library.name} />: {text}
            </li>
          ))}
        </ul>
      )}
      <Components metrics={metrics.data} version={health.version} />
      {changes.length > 1 && <Changes />}
      {!metrics.isLoading && (
        <p class="health-links secondary-text">
          {t('health.metricsHint', { address: metricsUrl })}
        </p>
      )}
    </AdminFrame>
  )
}

const metricsUrl = new URL(href('metrics'), window.location.href).href

type Known = { state: State; message: string | null; version: string | null }

/** Polled health; a server that does not answer is also a state. */
function useHealth(): Known {
  const { data, error, reload } = useResource('health', loadHealth)
  useInterval(reload, checkEveryMs)
  const isLost = connection.value === 'lost'
  useEffect(reload, [isLost])
  const [known, setKnown] = useState<Known>({ state: 'ok', message: null, version: null })
  useEffect(() => {
    if (error) setKnown(known => ({ ...known, state: 'unavailable', message: messageOf(error) }))
    else if (data) setKnown({ state: data.status, message: data.message, version: data.version })
  }, [data, error])
  useEffect(() => {
    const text = known.message ?? t(`health.${known.state}`)
    const last = changes.at(-1)
    if (known.version === null || (last?.state === known.state && last.text === text)) return
    changes.push({ at: Date.now(), state: known.state, text })
    changes.splice(0, changes.length - maxChanges)
  }, [known])
  return known
}

/** An unavailable server answers with an error that has the same content. */
async function loadHealth(signal: AbortSignal): Promise<Health> {
  try {
    return await body(api.GET('/api/v1/health', { signal }))
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 503) throw error
    return { status: 'unavailable', version: '', message: error.message }
  }
}

function StatusCard({ health: { state, message } }: { health: Known }) {
  return (
    <section class={`health-status card ${state}`} role="status">
      <Icon name={state === 'ok' ? 'check' : 'error'} size={28} />
      <div>
        <h2>{t(`health.${state}`)}</h2>
        {message && <p class="secondary-text">{message}</p>}
      </div>
    </section>
  )
}

function Changes() {
  return (
    <section class="stack admin-section">
      <h2>{t('health.changes')}</h2>
      <ol class="health-changes card">
        {[...changes].reverse().map(({ at, state, text }) => (
          <li key={at} class="row">
            <time class="secondary-text">{formatDate(at, 'time')}</time>
            <span class={`badge ${state === 'ok' ? 'success' : 'danger'}`}>
              {t(`health.${state}`)}
            </span>
            <span>{text}</span>
          </li>
        ))}
      </ol>
    </section>
  )
}

type ComponentsProps = { metrics: ServerMetrics | undefined; version: string | null }

/** Components of the server with their measured values. */
function Components({ metrics, version }: ComponentsProps) {
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
