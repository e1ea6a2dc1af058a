// Metrics of the server process, parsed from the Prometheus text, and the problems of libraries they show.
import { api, body } from '../api/client.ts'
import type { Library } from '../api/resource.ts'
import type { Scan } from '../manage/scan.tsx'
import { t } from '../text/translate.ts'

type Sample = { labels: Record<string, string>; value: number }
export type ServerMetrics = ReadonlyMap<string, readonly Sample[]>

/** Throws ApiError, also for accounts with hidden content. */
export async function loadServerMetrics(signal: AbortSignal): Promise<ServerMetrics> {
  const text = await body(
    api.GET('/api/v1/metrics', { headers: { accept: 'text/plain' }, parseAs: 'text', signal }),
  )
  return parseMetrics(text as string)
}

function parseMetrics(text: string): ServerMetrics {
  const metrics = new Map<string, Sample[]>()
  for (const line of text.split('\n')) {
    const match = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line)
    if (!match) continue
    const [, name, labelText = '', value] = match
    const labels = Object.fromEntries(
      [...labelText.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, key, text]) => [key, text]),
    )
    const samples = metrics.get(name!) ?? []
    samples.push({ labels, value: Number(value) })
    metrics.set(name!, samples)
  }
  return metrics
}

/** The only value of a metric; null if it is absent. */
export const metricOf = (metrics: ServerMetrics | undefined, name: string): number | null =>
  metrics?.get(name)?.[0]?.value ?? null

/** An unreadable folder, by the latest scan or the server metrics; null if there is no problem. */
export function libraryProblem(
  library: Library,
  { scan, metrics }: { scan?: Scan | undefined; metrics?: ServerMetrics | undefined },
): string | null {
  if (!library.isResponding) return t('library.notResponding')
  if (scan?.status === 'failed' && isUnavailable(scan)) return t('library.unavailable')
  const available = metrics
    ?.get('library_available')
    ?.find(({ labels }) => labels.library === library.id)
  return available?.value === 0 ? t('library.unavailable') : null
}

/** Whether a scan failed because its folder was unavailable. */
const isUnavailable = ({ message }: Scan): boolean => /^The library folder /.test(message ?? '')
