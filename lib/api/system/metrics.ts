// What there is and how the server is doing: as JSON for clients, as text for Prometheus.
import type { FastifyRequest } from 'fastify'
import { Forbidden } from '../../errors.ts'
import type { Deps } from '../../http/deps.ts'
import { answer, type Input, route } from '../../http/route.ts'
import { textForm } from '../../metrics/accept.ts'
import { inventory, seesEverything } from '../../metrics/inventory.ts'
import type { Form } from '../../metrics/registry.ts'
import { scrape } from '../../metrics/scrape.ts'
import { scopeOf } from '../../queue/task-cursor.ts'
import { taskTypes } from '../../queue/task-kind.ts'
import { taskStats } from '../../queue/task-stats.ts'
import { bytes, count, list, nullable, record, Type, uuid } from '../../schema.ts'

const figures = {
  libraryCount: count(),
  seriesCount: count(),
  bookCount: count({ description: 'Books that are not missing.' }),
  pageCount: count(),
  totalBookSize: count({ description: 'Bytes.' }),
  userCount: count({ description: 'Accounts that the caller may see; 1 is the caller.' }),
  databaseSize: count({ description: 'Bytes on disk, a minute old at most.' }),
  libraries: list(
    record({
      id: uuid(),
      name: Type.String(),
      seriesCount: count(),
      bookCount: count(),
      pageCount: count(),
      totalSize: count({ description: 'Bytes.' }),
    }),
  ),
}
const Inventory = record(figures, { component: 'Inventory' })
const Tasks = record(
  {
    pendingCount: count(),
    processingCount: count(),
    failedCount: count({ description: 'Given up, and still in the list of tasks.' }),
    oldestPendingAgeMs: nullable(count()),
    byType: list(
      record({
        taskType: Type.String({ description: taskTypes.join(', ') }),
        pendingCount: count(),
        processingCount: count(),
        failedCount: count(),
        p50DurationMs: nullable(count()),
        p95DurationMs: nullable(count()),
      }),
    ),
  },
  { component: 'TaskFigures' },
)
const texts = ['text/plain', 'application/openmetrics-text']
// Of `texts` the document tells as well.
const Metrics = record({ ...figures, tasks: Tasks }, { component: 'Metrics', texts })

type Asking = Pick<
  Input<'SystemHealth', undefined, undefined, undefined>,
  'viewer' | 'identity'
> & {
  request: FastifyRequest
}

const whole =
  'The text is for accounts from which nothing is hidden: it tells of the whole server, with the ids of all libraries.'

export const metrics = [
  route({
    method: 'GET',
    path: '/metrics',
    permission: 'SystemHealth',
    summary: 'What there is, and how the server is doing',
    description: `JSON of what the caller sees; with \`Accept: text/plain\` or \`application/openmetrics-text\` the metrics of this process for Prometheus. ${whole}`,
    responses: { 200: Metrics },
    async handle(asking, deps) {
      const form = textForm(asking.request.headers.accept)
      // The declared shape is that of JSON.
      if (form) return (await asText(asking, deps, form)) as never
      return { ...(await sizesFor(asking, deps)), tasks: await tasksFor(asking, deps) }
    },
  }),
  route({
    method: 'GET',
    path: '/metrics',
    atRoot: true,
    permission: 'SystemHealth',
    summary: 'Metrics of this process for Prometheus',
    description: whole,
    responses: { 200: bytes(...texts) },
    handle: async (asking, deps) =>
      await asText(asking, deps, textForm(asking.request.headers.accept) ?? 'text'),
  }),
  route({
    method: 'GET',
    path: '/metrics/inventory',
    permission: 'SystemHealth',
    summary: 'What there is',
    responses: { 200: Inventory },
    handle: sizesFor,
  }),
]

async function asText({ viewer }: Asking, { sql, config }: Deps, form: Form) {
  if (!(await seesEverything(sql, viewer)))
    throw new Forbidden('The metrics tell of libraries that are hidden from this account')
  const { text, type } = await scrape({ sql, dataDir: config.data_dir }, form)
  return answer(200, text, { 'content-type': type, 'cache-control': 'no-store' })
}

function sizesFor({ viewer, identity }: Asking, { sql }: Deps) {
  return inventory(sql, viewer, { seesUsers: identity.permissions.has('UsersRead') })
}

/** Those of libraries that the caller sees, and of none. */
async function tasksFor({ viewer }: Asking, { sql }: Deps) {
  const types = await taskStats(sql, scopeOf(viewer))
  const sum = (of: (type: (typeof types)[number]) => number) =>
    types.reduce((total, type) => total + of(type), 0)
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
