// Dashboard and alert rules speak only of metrics that there are.
import { join } from 'node:path'
import { test } from 'tap'
import { alertQueries, dashboardQueries } from '../../bench/prometheus/queries.ts'
import { openLog } from '../../lib/log.ts'
import { openMetricsServer } from '../../lib/metrics/server.ts'
import { database } from '../kit/db.ts'
import { temporary } from '../kit/library.ts'

const rules = join(import.meta.dirname, '..', '..', 'lib', 'metrics', 'alerts.yml')
// Of Prometheus itself.
const others = new Set(['up', 'job'])
const words =
  /^(sum|max|min|count|rate|increase|by|le|time|topk|or|and|vector|histogram_quantile|m|s)$/

/** Names in a query that are neither labels nor functions. */
function namesIn(query: string): string[] {
  const bare = query
    .replace(/\{[^}]*\}/g, '')
    .replace(/\[[^\]]*\]/g, '')
    .replace(/\bby \([^)]*\)/g, '')
  return (bare.match(/[a-z_][a-z_0-9]*/g) ?? []).filter(name => !words.test(name))
}

test('every metric of the dashboard and the rules exists', async t => {
  const { sql } = await database(t)
  const log = openLog({ level: 'silent' })
  const server = await openMetricsServer('127.0.0.1:0', { sql, log, dataDir: temporary(t) })
  t.teardown(server.close)
  const text = await (await fetch(`http://127.0.0.1:${server.port}/metrics`)).text()
  const types = new Map(
    [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name, type]) => [name!, type!]),
  )
  const queries = [...dashboardQueries(), ...alertQueries(rules)]
  t.ok(queries.length > 80)
  const used = new Set<string>()
  for (const { where, text } of queries)
    for (const name of namesIn(text)) {
      const part = /_(bucket|sum|count)$/.exec(name)
      const family = types.has(name) || !part ? name : name.slice(0, part.index)
      used.add(family)
      t.ok(types.has(family) || others.has(name), `${where}: ${name}`)
      if (part && family !== name) t.equal(types.get(family), 'histogram', name)
    }
  // What the server itself counts and nobody looks at is not worth counting.
  const own = [...types.keys()].filter(name => !/^(process|nodejs)_/.test(name))
  t.same(
    own.filter(name => !used.has(name)),
    [],
  )
})
