// Prometheus registry of this process: constructors for counters, gauges and histograms, and text formats.
// Metrics are declared in the modules next to this one and in lib/store/event/metrics.ts.
import { Counter, Gauge, Histogram, Registry } from 'prom-client'

export const registry = new Registry()
const registers = [registry]

export function counter<const L extends string>(name: string, help: string, labels: L[] = []) {
  return new Counter<L>({ name, help, labelNames: labels, registers })
}

export function gauge<const L extends string>(name: string, help: string, labels: L[] = []) {
  return new Gauge<L>({ name, help, labelNames: labels, registers })
}

export function histogram<const L extends string>(
  name: string,
  help: string,
  { labels = [], buckets }: { labels?: L[]; buckets: number[] },
) {
  return new Histogram<L>({ name, help, labelNames: labels, buckets, registers })
}

/** A metric with values collected for one scrape. */
export type MetricFamily = {
  name: string
  help: string
  type: 'gauge' | 'counter'
  values: Sample[]
}

type Sample = { labels?: Record<string, string>; value: number }

/** A family with one value, or with samples of labels; without values if there is no data. */
export function family(
  type: MetricFamily['type'],
  name: string,
  [help, data]: [string, number | Sample[] | null | undefined],
): MetricFamily {
  return { name, help, type, values: typeof data === 'number' ? [{ value: data }] : (data ?? []) }
}

/** Samples by the values of one label. */
export const by = (label: string, values: Record<string, number>): Sample[] =>
  Object.entries(values).map(([key, value]) => ({ labels: { [label]: key }, value }))

const mediaTypes = {
  text: Registry.PROMETHEUS_CONTENT_TYPE,
  openmetrics: Registry.OPENMETRICS_CONTENT_TYPE,
} as const
export type MetricsFormat = keyof typeof mediaTypes

/** The text of all registered metrics and `families`, with its media type. */
export async function render(families: MetricFamily[], format: MetricsFormat) {
  const combined = new Registry()
  combined.setContentType(mediaTypes[format] as typeof mediaTypes.text)
  for (const metric of [...registry.getMetricsAsArray(), ...families])
    combined.registerMetric(toCollectable(metric as Metric) as never)
  return { text: await combined.metrics(), type: mediaTypes[format] }
}

type Metric = MetricFamily & {
  get?: () => Promise<object>
  getForPromString?: () => Promise<object>
}

// A copy of the metric, because prom-client renames counters in the metric itself for OpenMetrics.
function toCollectable(metric: Metric) {
  return {
    name: metric.name,
    type: metric.type,
    async get() {
      const collect = metric.getForPromString ?? metric.get
      return { ...metric, ...(await collect?.call(metric)), name: this.name }
    },
  }
}

const textFormats: Record<string, MetricsFormat> = {
  'application/openmetrics-text': 'openmetrics',
  'text/plain': 'text',
}

type MediaRange = { type: string; quality: number }

/**
 * The text format preferred by an Accept header; null if JSON is preferred. Ignores wildcards, so that
 * browsers get JSON.
 */
export function negotiateTextFormat(accept: string | undefined): MetricsFormat | null {
  const ranges = (accept ?? '').split(',').map(parseMediaRange)
  const jsonQuality = ranges
    .filter(({ type }) => type === 'application/json')
    .reduce((highest, { quality }) => Math.max(highest, quality), 0)
  const [best] = ranges
    .filter(({ type, quality }) => type in textFormats && quality > jsonQuality)
    .sort((a, b) => b.quality - a.quality)
  return best ? textFormats[best.type]! : null
}

function parseMediaRange(part: string): MediaRange {
  const [type = '', ...parameters] = part.split(';').map(text => text.trim().toLowerCase())
  const text = parameters.find(parameter => parameter.startsWith('q='))?.slice(2)
  const quality = text === undefined ? 1 : Number(text)
  return { type, quality: Number.isFinite(quality) ? quality : 0 }
}
