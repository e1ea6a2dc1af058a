// Metrics: catalog and task statistics as JSON, process metrics as text for Prometheus.
import { Forbidden } from '../../base/errors.ts'
import {
  bytes,
  component,
  count,
  list,
  nullable,
  oneOf,
  record,
  Type,
  uuid,
} from '../../base/schema.ts'
import type { Deps } from '../../http/deps.ts'
import { type Input, respond, route } from '../../http/route.ts'
import { hasFullAccess, inventory } from '../../store/metrics/inventory.ts'
import { type MetricsFormat, negotiateTextFormat } from '../../store/metrics/registry.ts'
import { renderMetrics } from '../../store/metrics/scrape.ts'
import { taskScope } from '../../store/queue/task/scope.ts'
import { openTaskStats } from '../../store/queue/task/stats.ts'
import { taskTypes } from '../../store/queue/task-status.ts'

const LibraryInventory = component('LibraryInventory', {
  id: uuid(),
  name: Type.String(),
  seriesCount: count(),
  bookCount: count(),
  pageCount: count(),
  totalSize: count({ description: 'Size in bytes.' }),
})
const inventoryFields = {
  libraryCount: count(),
  seriesCount: count(),
  bookCount: count({ description: 'Number of books that are not missing.' }),
  pageCount: count(),
  totalBookSize: count({ description: 'Size in bytes.' }),
  userCount: count({
    description: 'Number of visible accounts; without UsersRead only the caller.',
  }),
  databaseSize: count({
    description:
      'Size on disk in bytes, at most a minute old; 0 for an account from which something is hidden.',
  }),
  libraries: list(LibraryInventory),
}
const Inventory = component('Inventory', inventoryFields)
const TaskSummary = component('TaskSummary', {
  pendingCount: count(),
  processingCount: count(),
  failedCount: count({ description: 'Number of failed tasks that are still listed.' }),
  oldestPendingAgeMs: nullable(count()),
  byType: list(
    record({
      taskType: oneOf(taskTypes),
      pendingCount: count(),
      processingCount: count(),
      failedCount: count(),
      p50DurationMs: nullable(count()),
      p95DurationMs: nullable(count()),
    }),
  ),
})
const mediaTypes = ['text/plain', 'application/openmetrics-text']
const Metrics = component('Metrics', { ...inventoryFields, tasks: TaskSummary }, { mediaTypes })

type MetricsInput = Input<'SystemHealth', undefined, undefined, undefined>

const textNote =
  'The text covers the whole server, with the ids of all libraries; it requires an account from which nothing is hidden.'

export const metrics = [
  route('GET /metrics', {
    operationId: 'getMetrics',
    permission: 'SystemHealth',
    summary: 'Catalog and task statistics',
    description: `JSON, limited to what the caller may see. With \`Accept: text/plain\` or \`application/openmetrics-text\` the metrics of this process for Prometheus. ${textNote}`,
    responses: { 200: Metrics },
    async handle(input, deps) {
      const format = negotiateTextFormat(input.request.headers.accept)
      // The response schema describes the JSON.
      if (format) return (await metricsText(input, deps, format)) as never
      return { ...(await inventoryFor(input, deps)), tasks: await taskSummary(input, deps) }
    },
  }),
  route('GET /metrics', {
    operationId: 'getPrometheusMetrics',
    atRoot: true,
    permission: 'SystemHealth',
    summary: 'Prometheus metrics of this process',
    description: textNote,
    responses: { 200: bytes(...mediaTypes) },
    handle: async (input, deps) =>
      await metricsText(input, deps, negotiateTextFormat(input.request.headers.accept) ?? 'text'),
  }),
  route('GET /metrics/inventory', {
    operationId: 'getInventory',
    permission: 'SystemHealth',
    summary: 'Catalog statistics',
    responses: { 200: Inventory },
    handle: inventoryFor,
  }),
]

async function metricsText(
  { viewer }: MetricsInput,
  { sql, services, config, space }: Deps,
  format: MetricsFormat,
) {
  if (!(await hasFullAccess(sql, viewer)))
    throw new Forbidden('The metrics include libraries that are hidden from this account')
  const { text, type } = await renderMetrics({ services, space, dataDir: config.data_dir }, format)
  return respond(200, text, { 'content-type': type, 'cache-control': 'no-store' })
}

function inventoryFor({ viewer, identity }: MetricsInput, deps: Deps) {
  return inventory(deps, viewer, { includesUsers: identity.permissions.has('UsersRead') })
}

/** Tasks of visible libraries, and tasks without a library. */
async function taskSummary({ viewer }: MetricsInput, { services }: Deps) {
  const types = await services(openTaskStats).all(taskScope(viewer))
  const sum = (count: (type: (typeof types)[number]) => number) =>
    types.reduce((total, type) => total + count(type), 0)
  const ages = types.map(type => type.oldestPendingAgeSeconds ?? -1)
  const oldest = Math.max(...ages)
  return {
    pendingCount: sum(type => type.pending),
    processingCount: sum(type => type.running),
    failedCount: sum(type => type.failed),
    oldestPendingAgeMs: oldest < 0 ? null : oldest * 1000,
    byType: types.map(type => ({
      taskType: type.type,
      pendingCount: type.pending,
      processingCount: type.running,
      failedCount: type.failed,
      p50DurationMs: type.p50DurationMs,
      p95DurationMs: type.p95DurationMs,
    })),
  }
}
