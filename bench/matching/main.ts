// Matching with the example plugin: 500 series with random locks; arbitrary templates and conditions over HTTP;
// conditions on many series. node bench/matching/main.ts [--series 500] [--inputs 20000] [--seed 1]
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { compileConditions } from '../../lib/match/condition.ts'
import { lockNameOf, metadataFields } from '../../lib/match/fields.ts'
import { openCatalog } from '../../test/kit/catalog.ts'
import { comic, createTestLibrary } from '../../test/kit/library.ts'
import { createRandom } from '../../test/kit/random.ts'
import { apiDefaults, serveCatalog } from '../../test/kit/server.ts'
import { evaluateNaively, randomConditions, randomContext } from '../../test/match/naive.ts'
import { arbitraryTemplate, pick } from '../../test/sources/template/random.ts'
import { print } from '../kit/stackroom.ts'

const { values } = parseArgs({
  options: {
    series: { type: 'string', default: '500' },
    inputs: { type: 'string', default: '20000' },
    seed: { type: 'string', default: '1' },
  },
})
const count = Number(values.series)
const inputs = Number(values.inputs)
const random = createRandom(Number(values.seed))
const ends: (() => unknown)[] = []
const t = { teardown: (end: () => unknown) => ends.unshift(end) }
const plugins = join(import.meta.dirname, '..', '..', 'test', 'source', 'plugins')

try {
  const settings = { ...apiDefaults, 'plugins.dir': plugins }
  const all = await serveCatalog(t, await openCatalog(t, settings))
  const admin = await all.createUser('admin')
  const { sql } = all

  const files = Object.fromEntries(
    Array.from({ length: count }, (_, i) => [`Example ${i + 1}/1.cbz`, comic({ pages: 1 })]),
  )
  const shelf = await createTestLibrary(t, all, files)
  await shelf.scan()
  const columns = metadataFields.series.map(field => lockNameOf('series', field))
  const locked = new Map<string, string[]>()
  for (const { id } of await sql<{ id: string }[]>`select id from series order by id`) {
    const locks = random.some(columns, columns.length)
    locked.set(id, locks)
    await sql`update series set locks = ${locks} where id = ${id}`
  }
  const snapshot = async () => {
    const rows = await sql<{ id: string; row: Record<string, unknown> }[]>`
      select id, to_jsonb(s) as row from series s`
    return new Map(rows.map(({ id, row }) => [id, row]))
  }
  const before = await snapshot()
  const plugin = { name: 'example', config: { plugin: 'example.ts' }, enabled: true }
  await admin.post('/admin/plugins', plugin)
  const started = performance.now()
  await admin.post(`/libraries/${shelf.id}/metadata/auto-match/task`)
  const due = () => sql`select 1 from series_match where due_at is not null limit 1`
  while ((await due()).length > 0) await sleep(100)
  const seconds = (performance.now() - started) / 1000
  const outcomes = await sql`
    select outcome, min(message) as message, count(*)::integer from series_match
    group by outcome order by outcome`
  let changed = 0
  let lockedFields = 0
  let violations = 0
  for (const [id, row] of await snapshot())
    for (const column of columns) {
      const isChanged = JSON.stringify(row[column]) !== JSON.stringify(before.get(id)![column])
      if (isChanged) changed += 1
      if (locked.get(id)!.includes(column)) {
        lockedFields += 1
        if (isChanged) violations += 1
      }
    }
  print({ series: count, seconds, outcomes: [...outcomes], changed, lockedFields, violations })

  const small = await createTestLibrary(t, all, { 'One/1.cbz': comic(), 'Two/1.cbz': comic() })
  await small.scan()
  const { seriesId } = (await small.books())[0]!
  const statuses: Record<string, number> = {}
  let slowestMs = 0
  const send = async (path: string, body: object) => {
    const startedAt = performance.now()
    const response = await fetch(`${all.base}/api/v1${path}`, {
      method: 'POST',
      headers: { 'x-api-key': admin.key, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    await response.arrayBuffer()
    slowestMs = Math.max(slowestMs, performance.now() - startedAt)
    statuses[response.status] = (statuses[response.status] ?? 0) + 1
  }
  const hostile = ['(a+)+$', '(?:x{1000}){1000}', '[', '\\1', 'constructor', '', '\0', '\ud800']
  for (let i = 0; i < inputs / 2; i++) {
    const template = arbitraryTemplate(random.next)
    await send('/templates/preview', { template, ...(random.chance(0.5) ? { seriesId } : {}) })
    const conditions = randomConditions(random.next)
    for (const rule of conditions.rules) {
      if (random.chance(0.1)) rule.value = pick(random.next, hostile)
      if (random.chance(0.05)) rule.field = pick(random.next, ['__proto__.a', 'metadata', 'a..b'])
    }
    await send(`/libraries/${small.id}/auto-match/preview`, { conditions })
  }
  print({ inputs, statuses, slowestMs })

  let differing = 0
  for (let i = 0; i < inputs; i++) {
    const [conditions, context] = [randomConditions(random.next), randomContext(random.next)]
    if (compileConditions(conditions)(context) !== evaluateNaively(conditions, context)) differing++
  }
  print({ conditions: inputs, differing })

  await sql`
    insert into series (id, library_id, key, name, title, sort_key, search_key, book_count, genres, summary)
    select gen_random_uuid(), ${small.id}, 'many ' || i, 'Many ' || i, 'Many ' || i,
      'many ' || lpad(i::text, 6, '0'), 'many ' || i, 1, '{Action,Drama}', repeat('A summary. ', 30)
    from generate_series(1, 40000) i`
  const rules = [
    { field: 'bookCount', operator: 'gte', value: 1 },
    { field: 'metadata.title', operator: 'matches', value: '9$' },
  ]
  const startedAt = performance.now()
  const path = `/libraries/${small.id}/auto-match/preview?pageSize=500`
  const { body } = await admin.post(path, { conditions: { mode: 'all', rules } })
  const ms = performance.now() - startedAt
  print({ previewOf: body.checked, matching: body.total, ms })
} finally {
  for (const end of ends) await end()
}
