// Failures of readings in the background that lists are made from: they are counted and logged, and the next reading succeeds.
import type { Sql } from 'postgres'
import t from 'tap'
import { unrestrictedViewer } from '../../lib/accounts/viewer.ts'
import { newId } from '../../lib/base/id.ts'
import { openLog } from '../../lib/base/log.ts'
import { createListIndex } from '../../lib/list/index/list-index.ts'
import { createSeriesSchema } from '../../lib/list/index/series/series-index.ts'
import { registry } from '../../lib/store/metrics/registry.ts'
import { connectionsLike } from '../../lib/store/postgres/db.ts'
import { createDatabase } from '../kit/db.ts'
import { environmentOf } from './environment.ts'

const { sql } = await createDatabase(t)
const seriesKind = createSeriesSchema(environmentOf(sql))
const lines: { level: number; what: string; err: { message: string } }[] = []
const log = openLog({ level: 'warn' }, { write: line => void lines.push(JSON.parse(line)) })

async function failures() {
  const metric = await registry.getSingleMetric('list_background_failures_total')!.get()
  return metric.values.find(({ labels }) => labels.kind === 'series index')?.value ?? 0
}

t.test('a failed reading is counted, logged once a minute, and does not stop the next', async t => {
  let left = 2
  const index = createListIndex(
    {
      ...seriesKind,
      async loadSegment(pool) {
        if (left-- > 0) await pool`select 1 / 0`
        return await seriesKind.loadSegment(pool)
      },
    },
    environmentOf(sql, { log }),
    { pause: 0 },
  )
  const viewer = unrestrictedViewer(newId())
  const list = { filter: null, sort: 'title', direction: 'asc', offset: 0, limit: 5 } as const
  for (const failed of [1, 2, 2]) {
    t.equal(await index.page(sql, viewer, list), null)
    index.refresh(viewer, list)
    await index.idle()
    t.equal(await failures(), failed)
  }
  t.same(await index.page(sql, viewer, list), { ids: [], total: 0 })
  t.match(lines, [{ what: 'series index', err: { message: 'division by zero' } }])
  t.equal(lines.length, 1)
})

t.test('a reading that failed is not tried again at once', async t => {
  let readings = 0
  const readTable = async (pool: Sql) => {
    readings++
    await pool`select 1 / 0`
    return null
  }
  const index = createListIndex({ ...seriesKind, loadSegment: readTable }, environmentOf(sql))
  const viewer = unrestrictedViewer(newId())
  const list = { filter: null, sort: 'title', direction: 'asc', offset: 0, limit: 5 } as const
  for (let i = 0; i < 3; i++) {
    index.refresh(viewer, list)
    await index.idle()
  }
  t.equal(readings, 1)
})

t.test('a reading that ends because the process stops is no failure', async t => {
  const pool = connectionsLike(sql, { max: 1, connection: {} })
  lines.length = 0
  const failed = await failures()
  const readTable = async (closed: Sql) => {
    await pool.end()
    return await seriesKind.loadSegment(closed)
  }
  const index = createListIndex(
    { ...seriesKind, loadSegment: readTable },
    environmentOf(pool, { log }),
  )
  const viewer = unrestrictedViewer(newId())
  index.refresh(viewer, {
    filter: null,
    sort: 'title',
    direction: 'asc',
    offset: 0,
    limit: 5,
  })
  await index.idle()
  t.equal(await failures(), failed)
  t.same(lines, [])
})
