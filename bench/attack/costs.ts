// Generated worst cases of templates, conditions, patterns and reading lists, and the largest bodies on every operation.
import { resources } from '../../lib/api/resources.ts'
import { newId } from '../../lib/base/id.ts'
import { bodyLimit } from '../../lib/http/limits/body-limit.ts'
import { endpoints, type Route } from '../../lib/http/route.ts'
import type { Sql } from '../../lib/store/postgres/db.ts'
import { cblFile } from '../../test/kit/files/cbl.ts'
import { worstValues } from '../../test/match/worst.ts'
import { worstContext, worstTemplates } from '../../test/sources/template/worst.ts'
import type { Attack, Phase } from './send.ts'

const unknownId = '00000000-0000-7000-8000-00000000dead'

/** Generated worst cases, by what they use. */
export function* costPhases(library: string): Generator<Phase> {
  const context = { ...worstContext, digits: '1'.repeat(300_000), other: `${'1'.repeat(299_999)}2` }
  yield [
    'templates',
    [...worstTemplates.values()].flat().map(template => preview({ template, context })),
  ]
  yield ['conditions', conditions(library)]
  yield ['operations without permission', onRoutes('nothing')]
  yield ['operations with all permissions', onRoutes('admin')]
  yield ['reading lists', cblFiles()]
}

function preview(body: object): Attack {
  const text = JSON.stringify(body)
  return { by: 'seriesRead', method: 'POST', path: '/api/v1/templates/preview', body: text }
}

function* conditions(library: string): Generator<Attack> {
  const path = `/api/v1/libraries/${library}/auto-match/preview?pageSize=500`
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

function* onRoutes(by: Attack['by']): Generator<Attack> {
  for (const route of resources) yield* onRoute(route, by)
}

/** Every operation: as it is, with values in the place of others, with a long body. */
function* onRoute(route: Route, by: Attack['by']): Generator<Attack> {
  const [endpoint] = endpoints(route)
  const path = endpoint!.path.replace(/\{\w+\}|\{\*\}/g, unknownId)
  // Signs out, changes how the server answers, or does not end.
  if (/stream|settings|logout/.test(path)) return
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
    Array.from({ length: 15_000 }, (_, i) => ({
      series: `${i} ${'Sérieş '.repeat(28)}`,
      number: `${i}`,
    })),
  ]
  // Each by several accounts at once.
  for (const [i, list] of lists.flatMap(list => Array(4).fill(list)).entries())
    yield {
      ...{ by: `importer ${i % 4}`, method: 'POST', path: '/api/v1/readlists/import?dryRun=true' },
      ...{ body: new Uint8Array(cblFile('list', list)), type: 'application/xml' },
    }
}

/** A library of series with a book each and long texts. */
export async function insertSeries(sql: Sql, count: number): Promise<string> {
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
