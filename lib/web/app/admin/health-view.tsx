// Health of the server: what is degraded, its components, and what changed while the page was open.
import { useEffect, useState } from 'preact/hooks'
import { api, body, type Schemas } from '../api/client.ts'
import { ApiError } from '../api/errors.ts'
import { connection } from '../api/events.ts'
import { useResource } from '../api/resource.ts'
import { useLibraries } from '../api/use-libraries.ts'
import { href } from '../routing/router.ts'
import { messageOf } from '../text/error-message.ts'
import { formatDate, t } from '../text/translate.ts'
import { Icon } from '../ui/icon.tsx'
import { NameLink } from '../ui/name.tsx'
import { useInterval } from '../ui/timing.ts'
import { AdminFrame } from './admin-frame.tsx'
import { Components } from './health-components.tsx'
import { libraryProblem } from './library-problem.ts'
import { loadServerMetrics } from './server-metrics.ts'

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
