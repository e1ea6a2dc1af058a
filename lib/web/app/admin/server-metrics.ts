// Metrics of the server process, parsed from the Prometheus text.
import { api, body } from '../api/client.ts'

export type Sample = { labels: Record<string, string>; value: number }
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
