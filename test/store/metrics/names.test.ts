// Dashboard and alert rules use only existing metrics, and all of them.
import { join } from 'node:path'
import { test } from 'tap'
import { alertQueries, dashboardQueries } from '../../../bench/prometheus/queries.ts'
import { openLog } from '../../../lib/base/log.ts'
import { openMetricsServer } from '../../../lib/store/metrics/server.ts'
import { createDatabase } from '../../kit/db.ts'
import { temporaryFolder } from '../../kit/files/folders.ts'

const rules = join(import.meta.dirname, '..', '..', '..', 'deploy', 'monitoring', 'alerts.yml')
// Built into Prometheus.
const builtIn = new Set(['up', 'job'])
const words =
  /^(sum|max|min|count|rate|increase|by|le|time|topk|or|and|vector|histogram_quantile|m|s)$/

/** Names in a query that are neither labels nor functions. */
function namesIn(query: string): string[] {
  const names = query
    .replace(/\{[^}]*\}/g, '')
    .replace(/\[[^\]]*\]/g, '')
    .replace(/\bby \([^)]*\)/g, '')
  return (names.match(/[a-z_][a-z_0-9]*/g) ?? []).filter(name => !words.test(name))
}

test('every metric of the dashboard and the rules exists, and every metric is used', async t => {
  const { sql } = await createDatabase(t)
  const log = openLog({ level: 'silent' })
  const server = await openMetricsServer('127.0.0.1:0', { sql, log, dataDir: temporaryFolder(t) })
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
      t.ok(types.has(family) || builtIn.has(name), `${where}: ${name}`)
      if (part && family !== name) t.equal(types.get(family), 'histogram', name)
    }
  // A metric that neither the dashboard nor a rule uses is not worth its cost.
  const own = [...types.keys()].filter(name => !/^(process|nodejs)_/.test(name))
  t.same(
    own.filter(name => !used.has(name)),
    [],
  )
})
