// Metrics shown in the web interface of the Komga-compatible API: sizes of the libraries and their lists.
import { NotFound } from '../../../../base/errors.ts'
import { list, nullable, record, Type, text } from '../../../../base/schema.ts'
import { route } from '../../../../http/route.ts'
import type { Sql } from '../../../../store/postgres/db.ts'
import { listParameter } from '../http/read-request.ts'

type Meter = {
  description: string
  baseUnit?: string
  /** Values by library; a value for the whole server has an empty id. */
  read: (sql: Sql) => Promise<{ library: string; value: number }[]>
}

const ofLibraries = (column: string) => (sql: Sql) =>
  sql<{ library: string; value: number }[]>`
  select id as library, ${sql(column)}::float8 as value
  from library where deleting_at is null order by id`
const rowsOf = (table: string) => (sql: Sql) =>
  sql<{ library: string; value: number }[]>`
  select '' as library, count(*)::float8 as value from ${sql(table)}`

const meters: Readonly<Record<string, Meter>> = {
  'komga.libraries': {
    description: 'The number of libraries',
    read: sql => sql`
      select '' as library, count(*)::float8 as value from library where deleting_at is null`,
  },
  'komga.series': { description: 'The number of series', read: ofLibraries('series_count') },
  'komga.books': { description: 'The number of books', read: ofLibraries('book_count') },
  'komga.books.filesize': {
    ...{ description: 'The sum of the sizes of books', baseUnit: 'bytes' },
    read: ofLibraries('size'),
  },
  'komga.collections': { description: 'The number of collections', read: rowsOf('collection') },
  'komga.readlists': { description: 'The number of read lists', read: rowsOf('read_list') },
}

const MetricDto = record({
  ...{ name: Type.String(), description: Type.String(), baseUnit: nullable(Type.String()) },
  measurements: list(record({ statistic: Type.String(), value: Type.Number() })),
  availableTags: list(record({ tag: Type.String(), values: list(Type.String()) })),
})

export const metrics = [
  route('GET /actuator/metrics', {
    operationId: 'getActuatorMetrics',
    atRoot: true,
    permission: 'SystemAdmin',
    cost: 'record',
    summary: "List the names of metrics; the server's full set is at /metrics",
    responses: { 200: record({ names: list(Type.String()) }) },
    handle: () => ({ names: Object.keys(meters) }),
  }),
  route('GET /actuator/metrics/{name}', {
    operationId: 'getActuatorMetric',
    atRoot: true,
    permission: 'SystemAdmin',
    cost: 'record',
    summary: 'Get a metric, optionally of one library',
    params: record({ name: text(100) }),
    query: record({ tag: listParameter(text(200)) }),
    responses: { 200: MetricDto },
    async handle({ params: { name }, query }, { sql }) {
      const meter = Object.hasOwn(meters, name) ? meters[name]! : null
      if (!meter) throw new NotFound('Metric not found')
      const rows = await meter.read(sql)
      const libraries = rows.map(row => row.library).filter(id => id !== '')
      const [, chosen] = /^library:(.+)$/.exec(query.tag?.[0] ?? '') ?? []
      const shown = chosen === undefined ? rows : rows.filter(row => row.library === chosen)
      if (shown.length === 0 && chosen !== undefined) throw new NotFound('Metric not found')
      return {
        ...{ name, description: meter.description, baseUnit: meter.baseUnit ?? null },
        measurements: [
          { statistic: 'VALUE', value: shown.reduce((sum, row) => sum + row.value, 0) },
        ],
        availableTags:
          chosen === undefined && libraries.length > 0
            ? [{ tag: 'library', values: libraries }]
            : [],
      }
    },
  }),
]
