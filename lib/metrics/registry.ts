// What this process counts, and how it becomes text for a scraper. Metrics live in the modules beside
// this one, by area; `help` says what each means. Counters begin at zero when the process starts.
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

/** A metric whose values were gathered for one scrape. */
export type Family = {
  name: string
  help: string
  type: 'gauge' | 'counter'
  values: { labels?: Record<string, string>; value: number }[]
}

const forms = {
  text: Registry.PROMETHEUS_CONTENT_TYPE,
  openmetrics: Registry.OPENMETRICS_CONTENT_TYPE,
} as const
export type Form = keyof typeof forms

/** Everything counted here and the families given, with its media type. */
export async function render(
  families: Family[],
  form: Form,
): Promise<{ text: string; type: string }> {
  const all = new Registry()
  all.setContentType(forms[form] as typeof forms.text)
  for (const metric of [...registry.getMetricsAsArray(), ...families])
    all.registerMetric(borrowed(metric as Metric) as never)
  return { text: await all.metrics(), type: forms[form] }
}

type Metric = Family & { get?: () => Promise<object>; getForPromString?: () => Promise<object> }

// OpenMetrics writes a counter's name without its ending, and prom-client changes it in the metric itself.
function borrowed(metric: Metric) {
  return {
    name: metric.name,
    type: metric.type,
    async get() {
      const read = metric.getForPromString ?? metric.get
      return { ...metric, ...(await read?.call(metric)), name: this.name }
    },
  }
}
