// An attacker's walk: generated worst cases of templates, conditions and patterns by an account with SeriesRead alone,
// hostile bodies and the largest uploads on every operation, while /health/live is probed.
// node bench/attack/main.ts [--series 600] [--attackers 4] [--only PATTERN]; fails above 500 ms.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { resources } from '../../lib/api/resources.ts'
import { loadConfig } from '../../lib/config/config.ts'
import { bodyLimit } from '../../lib/http/body-limit.ts'
import { endpoints, type Route } from '../../lib/http/route.ts'
import { newId } from '../../lib/id.ts'
import { openDatabase, type Sql } from '../../lib/postgres/db.ts'
import { migrate } from '../../lib/postgres/migrate.ts'
import { worstValues } from '../../test/condition/worst.ts'
import { insertAccount, insertApiKey } from '../../test/kit/accounts.ts'
import { cblFile } from '../../test/kit/files/cbl.ts'
import { worstContext, worstTemplates } from '../../test/template/worst.ts'
import { startStackroom, stopProcess } from '../kit/server-process.ts'
import { print } from '../kit/stackroom.ts'

const { values } = parseArgs({
  options: {
    series: { type: 'string', default: '600' },
    attackers: { type: 'string', default: '4' },
    only: { type: 'string', default: '' },
  },
})
const limitMs = 500
/** Requests that are sent at the moment. */
const running = new Set<string>()
const unknownId = '00000000-0000-7000-8000-00000000dead'
const folder = mkdtempSync(join(tmpdir(), 'stackroom-attack-'))
const ends: (() => unknown)[] = [() => rmSync(folder, { recursive: true, force: true })]

/** `by`: whose key the request has. */
type Attack = {
  by: 'seriesRead' | 'nothing' | 'admin'
  method: string
  path: string
  body?: string | Uint8Array<ArrayBuffer>
  type?: string
}

try {
  const config = loadConfig({ env: {}, flags: { data_dir: join(folder, 'data') } })
  const { sql, url, close } = await openDatabase(config)
  ends.unshift(close)
  await migrate(sql)
  const library = await insertSeries(sql, Number(values.series))
  const { id, key: admin } = await insertAccount(sql, 'admin')
  const keys = {
    admin,
    seriesRead: (await insertApiKey(sql, id, ['SeriesRead'])).key,
    nothing: (await insertApiKey(sql, id, [])).key,
  }
  const flags = ['--data', config.data_dir, '--database-url', url, '--no-workers']
  const { child, base } = await startStackroom(flags, { STACKROOM_LOGGING__LEVEL: 'error' })
  ends.unshift(() => stopProcess(child))

  const send = async ({ by, method, path, body, type = 'application/json' }: Attack) => {
    const headers = {
      'x-api-key': keys[by],
      ...(body === undefined ? {} : { 'content-type': type }),
    }
    const init = { method, headers, ...(body === undefined ? {} : { body }) }
    const response = await fetch(`${base}/api/v1${path}`, {
      ...init,
      signal: AbortSignal.timeout(120_000),
    })
    // Streams of events do not end.
    await response.body?.cancel()
    return response.status
  }
  let worst = 0
  for (const [name, attacks] of phases(library)) {
    if (!new RegExp(values.only).test(name)) continue
    const probe = startProbe(base)
    const began = performance.now()
    const statuses = await runAll([...attacks], send)
    const { maxMs, count, during } = await probe.stop()
    worst = Math.max(worst, maxMs)
    print({
      attack: name,
      requests: [...statuses.values()].reduce((sum, n) => sum + n, 0),
      statuses: Object.fromEntries([...statuses].sort()),
      seconds: Math.round((performance.now() - began) / 1000),
      probes: count,
      longestHealthMs: Math.round(maxMs),
      during,
    })
  }
  print({ longestHealthMs: Math.round(worst), limitMs })
  if (worst > limitMs) process.exitCode = 1
} finally {
  for (const end of ends) await end()
}

/** Generated worst cases, by what they use. */
function* phases(library: string): Generator<[string, Iterable<Attack>]> {
  const context = { ...worstContext, digits: '1'.repeat(300_000), other: `${'1'.repeat(299_999)}2` }
  yield [
    'templates',
    [...worstTemplates.values()].flat().map(template => preview({ template, context })),
  ]
  yield ['conditions', conditions(library)]
  yield [
    'operations without permission',
    resources.flatMap(route => [...onRoute(route, 'nothing')]),
  ]
  yield [
    'operations with all permissions',
    resources.flatMap(route => [...onRoute(route, 'admin')]),
  ]
  yield ['reading lists', cblFiles()]
}

function preview(body: object): Attack {
  const text = JSON.stringify(body)
  return { by: 'seriesRead', method: 'POST', path: '/templates/preview', body: text }
}

function* conditions(library: string): Generator<Attack> {
  const path = `/libraries/${library}/auto-match/preview?pageSize=500`
  const test = (field: string, operator: string, value: unknown, count: number): Attack => ({
    ...{ by: 'seriesRead', method: 'POST', path },
    body: JSON.stringify({
      conditions: { mode: 'all', rules: Array(count).fill({ field, operator, value }) },
    }),
  })
  for (const pattern of [
    '(?:[a-z ]?){440}[0-9]',
    '(?:a?){400}a{400}!',
    '.*.*.*.*.*=',
    '(?:x{10}){50}!',
  ])
    for (const count of [1, 2])
      for (const field of ['metadata.title', 'metadata.summary', 'customMetadata.value'])
        yield test(field, 'matches', pattern, count)
  for (const operator of [
    'equals',
    'not_equals',
    'contains',
    'not_contains',
    'starts_with',
    'gt',
    'lt',
  ])
    for (const value of worstValues.slice(0, 7))
      yield test(
        'metadata.summary',
        operator,
        value,
        Math.min(100, Math.floor(900_000 / JSON.stringify(value).length)),
      )
}

/** Every operation: as it is, with values in the place of others, with a long body. */
function* onRoute(route: Route, by: Attack['by']): Generator<Attack> {
  const [endpoint] = endpoints(route)
  const path = endpoint!.path.replace(/^\/api\/v1/, '').replace(/\{\w+\}|\{\*\}/g, unknownId)
  // Signs out, or ends what the walk needs.
  if (!endpoint!.path.startsWith('/api/v1') || /stream|sources|plugins|settings/.test(path)) return
  const { method } = route
  if (method === 'GET') {
    for (const query of ['', `?search=${'a%20'.repeat(300)}`, '?page=99999999&pageSize=500'])
      yield { by, method, path: `${path}${query}` }
    return
  }
  if (route.multipart || method === 'DELETE') return
  const length = bodyLimit(route) - 100
  const numbers = `[${'1,'.repeat(Math.min(20_000, length / 2 - 20))}1]`
  const names = Object.keys(
    (route.body as { properties?: object } | undefined)?.properties ?? { x: 1 },
  )
  for (const name of names.slice(0, 6))
    for (const value of [numbers, `"${'x'.repeat(length - name.length - 20)}"`])
      yield { by, method, path, body: `{${JSON.stringify(name)}:${value}}` }
  yield { by, method, path, body: `${'['.repeat(length / 2)}${']'.repeat(length / 2)}` }
}

function* cblFiles(): Generator<Attack> {
  const commas = (length: number) => ','.repeat(length)
  const lists = [
    [{ series: commas(7_900_000), number: '1' }],
    Array.from({ length: 12_000 }, () => ({ series: commas(500), number: commas(100) })),
    Array.from({ length: 20_000 }, (_, i) => ({ series: `Series ${i % 600}`, number: `${i}` })),
  ]
  for (const list of lists)
    yield {
      ...{ by: 'admin', method: 'POST', path: '/readlists/import?dryRun=true' },
      ...{ body: new Uint8Array(cblFile('list', list)), type: 'application/xml' },
    }
}

/** Some at a time; how many had each status. */
async function runAll(attacks: Attack[], send: (attack: Attack) => Promise<number>) {
  const statuses = new Map<number | string, number>()
  const waiting = attacks.values()
  const attacker = async () => {
    for (const attack of waiting) {
      const text = `${attack.method} ${attack.path} ${String(attack.body ?? '').slice(0, 60)}`
      running.add(text)
      const status = await send(attack).catch(error => String(error.name))
      running.delete(text)
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
    }
  }
  await Promise.all(Array.from({ length: Number(values.attackers) }, attacker))
  return statuses
}

/** Requests /health/live, one after another, until it is stopped. */
function startProbe(base: string) {
  let isStopped = false
  let maxMs = 0
  let count = 0
  let during: string[] = []
  const probing = (async () => {
    while (!isStopped) {
      const began = performance.now()
      await (await fetch(`${base}/health/live`)).arrayBuffer()
      const ms = performance.now() - began
      if (ms > maxMs) during = [...running]
      maxMs = Math.max(maxMs, ms)
      count++
      await sleep(10)
    }
  })()
  return {
    async stop() {
      isStopped = true
      await probing
      return { maxMs, count, during }
    },
  }
}

/** A library of series with a book each and long texts. */
async function insertSeries(sql: Sql, count: number): Promise<string> {
  const [library, directory] = [newId(), newId()]
  await sql`insert into library (id, name, root) values (${library}, 'Attacked', '/attacked')`
  await sql`insert into directory (id, library_id, path) values (${directory}, ${library}, '')`
  const rows = Array.from({ length: count }, (_, i) => ({
    id: newId(),
    book: newId(),
    n: String(i),
  }))
  const text = sql`repeat('ab cd ', 3000)`
  await sql`
    insert into series (id, library_id, key, name, title, sort_key, search_key, summary, custom_metadata, book_count)
    select r.id, ${library}, r.n, 'Series ' || r.n, left(repeat('a', 900) || r.n, 1000), r.n, 'series ' || r.n,
      ${text}, jsonb_build_object('value', repeat('1', 20000)), 1
    from jsonb_to_recordset(${sql.json(rows)}) as r(id uuid, book uuid, n text)`
  await sql`
    insert into book (id, library_id, series_id, directory_id, name, size, modified_ms, page_count, title, sort_key,
      search_key, name_key, format)
    select r.book, ${library}, r.id, ${directory}, convert_to(r.n, 'UTF8'), 1, 1, 1, r.n, r.n, r.n, r.n, 'cbz'
    from jsonb_to_recordset(${sql.json(rows)}) as r(id uuid, book uuid, n text)`
  return library
}
