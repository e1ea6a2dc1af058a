// Latency of every list over a seeded database (npm run bench -- seed): filter fields with every operator,
// sort orders, pages, searches, facets and random trees of conditions, for three kinds of viewer. Exits
// with 1 when a bound is exceeded. The accounts of the database are changed.
// npm run bench -- grid --data DIR [--database-url URL] [--seed 1] [--pairs 500] [--only TEXT] [--viewer TEXT]
//   [--rounds 3] [--minutes 60] [--counts 60] [--worst 50] [--by ms | cpuMs] [--report FILE] [--json FILE] [--changing]
// The order of the cases is random, so that a part of them (`--minutes`) stands for all. The first request of a page is measured apart: the server
// remembers where the pages of a filtered list begin. `--changing`: a book is changed before each request, as during a scan.
import { writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { openApi } from '../lib/api/open.ts'
import { openLog } from '../lib/base/log.ts'
import { loadConfig } from '../lib/store/config/config.ts'
import { openDatabase } from '../lib/store/postgres/db.ts'
import { openQueue } from '../lib/store/queue/queue.ts'
import { createRandom } from '../test/kit/random.ts'
import { type GridCase, gridCases, type PageChoice } from './grid/cases.ts'
import { openClient, recordStatements } from './grid/client.ts'
import { plainCounts } from './grid/counts.ts'
import { openProcessorClock } from './grid/processor.ts'
import { type Measured, summarize, writeReport } from './grid/report.ts'
import { gridViewers } from './grid/viewers.ts'
import { print } from './kit/stackroom.ts'

const { values } = parseArgs({
  options: {
    data: { type: 'string' },
    'database-url': { type: 'string' },
    seed: { type: 'string', default: '1' },
    pairs: { type: 'string', default: '500' },
    only: { type: 'string', default: '' },
    viewer: { type: 'string', default: '' },
    rounds: { type: 'string', default: '3' },
    minutes: { type: 'string', default: '60' },
    counts: { type: 'string', default: '60' },
    worst: { type: 'string', default: '50' },
    by: { type: 'string', default: 'ms' },
    report: { type: 'string' },
    json: { type: 'string' },
    changing: { type: 'boolean', default: false },
  },
})
const [seed, pairs, rounds] = [values.seed, values.pairs, values.rounds].map(Number) as [
  number,
  number,
  number,
]
const by = values.by === 'cpuMs' ? 'cpuMs' : 'ms'
const defaultPageSize = 50
// A case below is within every bound; one above is over them all.
const quickMs = 20
const slowMs = 500
const quietMs = 100
const maxQuietTries = 100
const countsAtOnce = 40
const flags = {
  data_dir: values.data,
  'database.url': values['database-url'],
  'rate_limit.enabled': false,
  'application.port': 0,
}
const config = loadConfig({ env: {}, flags })
const database = await openDatabase(config)
const { sql } = database
const takeStatements = recordStatements(sql)
const queue = await openQueue(sql, () => {})
const api = await openApi({ sql, config, queue, log: openLog({ level: 'fatal' }) })
const base = await api.server.listen({ host: '127.0.0.1', port: 0 })
const client = openClient(base)
const totals = new Map<string, number>()

try {
  const viewers = await gridViewers(sql)
  const clock = await openProcessorClock(sql)
  const all = await gridCases({ sql, seed, pairs, viewers: viewers.map(one => one.viewer) })
  const cases = createRandom(seed)
    .shuffled(all)
    .filter(
      one =>
        `${one.group} ${one.name} ${one.path}`.includes(values.only) &&
        viewers[one.viewer]!.name.includes(values.viewer),
    )
  // Connections and caches.
  for (const { key } of viewers) await client.send({ path: '/books' }, key)
  const measured: Measured[] = []
  const deadline = performance.now() + Number(values.minutes) * 60_000
  for (const one of cases) {
    if (performance.now() > deadline) break
    measured.push(await measure(one))
    if (measured.length % 100 === 0)
      process.stderr.write(`${measured.length} of ${cases.length} cases\n`)
  }
  const groups = summarize(measured, by)
  for (const group of groups) print(group)
  const worst = measured.toSorted((a, b) => b[by] - a[by]).slice(0, Number(values.worst))
  for (const { one, viewer, page, total, ms, cpuMs, status } of worst)
    print({
      ...{ ms: Math.round(ms), cpu: Math.round(cpuMs), name: one.name, path: one.path, page },
      ...{ viewer, total, ...(status === 200 ? {} : { status }) },
    })
  if (values.json) writeFileSync(values.json, JSON.stringify(measured.map(briefly)))
  if (values.report) writeFileSync(values.report, await writeReport(sql, { groups, worst }))
  const wrong = await printWrongTotals(measured)
  if (wrong > 0 || groups.some(({ isWithin }) => !isWithin)) process.exitCode = 1

  /** Prints the totals of some cases that differ from plain counts; their number. */
  async function printWrongTotals(all: Measured[]): Promise<number> {
    let wrong = 0
    const counted = all
      .filter(({ one, total }) => one.counted && total !== null)
      .slice(0, Number(values.counts))
    let done = 0
    for (const part of partsOf(counted)) {
      const { viewer, counted: first } = part[0]!.one
      const queries = part.map(({ one }) => one.counted!)
      const counts = await plainCounts(sql, viewers[viewer]!.viewer, first!.entity, queries)
      for (const [i, { one, total }] of part.entries()) {
        if (counts[i] === total) continue
        print({ ...one, wrong: total, count: counts[i], viewer: viewers[viewer]!.name })
        wrong++
      }
      done += part.length
      process.stderr.write(`${done} of ${counted.length} totals compared\n`)
    }
    return wrong
  }

  /** Resolves when the database does nothing in the background. */
  async function quiet() {
    for (let tries = 0; tries < maxQuietTries; tries++) {
      const before = clock.now()
      await sleep(quietMs)
      if (clock.now() - before < quietMs / 10) return
    }
  }

  /** Nothing of it differs afterwards, but the server cannot know. */
  async function changeBook() {
    await sql`update book set modified_ms = modified_ms where id = (select id from book limit 1)`
  }

  async function measure(one: GridCase): Promise<Measured> {
    const { key, name } = viewers[one.viewer]!
    const page = one.page === null ? null : await pageOf(one, one.page, key)
    const request = { path: pathOf(one, page), body: one.body }
    let [ms, cpuMs] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY]
    let [firstMs, firstCpuMs] = [0, 0]
    let answer = { status: 0, text: '' }
    let statements = takeStatements()
    clock.refresh()
    for (let round = 0; round < rounds; round++) {
      if (values.changing) await changeBook()
      takeStatements()
      const before = clock.now()
      const received = await client.send(request, key)
      const cpu = clock.now() - before
      answer = received
      statements = takeStatements()
      if (round === 0) [firstMs, firstCpuMs] = [received.ms, cpu]
      const isQuick = received.ms < quickMs
      if (round > 0 || isQuick || rounds === 1 || received.status !== 200) {
        ms = Math.min(ms, received.ms)
        cpuMs = Math.min(cpuMs, cpu)
      }
      if (isQuick || received.status !== 200 || (round > 0 && received.ms > slowMs)) break
      if (round === 0) await quiet()
    }
    const { status, text } = answer
    if (status !== 200) process.stderr.write(`${request.path} ${status} ${text.slice(0, 200)}\n`)
    const { total = null } = status === 200 ? (JSON.parse(text) as { total?: number }) : {}
    return { one, viewer: name, page, total, ms, cpuMs, firstMs, firstCpuMs, status, statements }
  }
} finally {
  client.close()
  await api.close()
  await queue.close()
  await database.close()
}

/** Parts with one viewer and kind, as many as one statement counts. */
function* partsOf(counted: Measured[]): Generator<Measured[]> {
  const groups = new Map<string, Measured[]>()
  for (const each of counted) {
    const key = `${each.one.viewer} ${each.one.counted!.entity}`
    groups.set(key, [...(groups.get(key) ?? []), each])
  }
  for (const group of groups.values())
    for (let i = 0; i < group.length; i += countsAtOnce) yield group.slice(i, i + countsAtOnce)
}

function pathOf({ path, pageSize }: GridCase, page: number | null): string {
  const query = [...(page === null ? [] : [`page=${page}`])]
  if (pageSize) query.push(`pageSize=${pageSize}`)
  return query.length === 0 ? path : `${path}${path.includes('?') ? '&' : '?'}${query.join('&')}`
}

/** The number of a page; their number is fetched once for each list. */
async function pageOf(one: GridCase, choice: PageChoice, key: string): Promise<number> {
  if (choice === 'first') return 1
  const list = `${key} ${one.path.replace(/\?.*/, '')} ${JSON.stringify(one.body)}`
  let total = totals.get(list)
  if (total === undefined) {
    const { status, text } = await client.send({ path: pathOf(one, 1), body: one.body }, key)
    total = status === 200 ? ((JSON.parse(text) as { total?: number }).total ?? 0) : 0
    totals.set(list, total)
  }
  const last = Math.max(1, Math.ceil(total / (one.pageSize ?? defaultPageSize)))
  const pages = {
    second: 2,
    hundredth: 100,
    middle: Math.ceil(last / 2),
    late: Math.ceil(last * 0.38),
    last,
  }
  return Math.min(last, pages[choice])
}

function briefly({ one, statements: _, ...measured }: Measured) {
  const { group, name, path, body } = one
  return { group, name, path, body, ...measured }
}
