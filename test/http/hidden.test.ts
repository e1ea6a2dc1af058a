// Visibility: a series hidden from an account leaks through no GET and no counter.
import { type Test, test } from 'tap'
import { resources } from '../../lib/api/resources.ts'
import { openapiDocument } from '../../lib/http/openapi/openapi.ts'
import { komgaRoutes } from '../../lib/protocols/komga/routes/routes.ts'
import { createFixture, type Fixture } from '../kit/fixture.ts'
import { readBody } from '../kit/http/body.ts'
import { operationsOf } from '../kit/http/operation.ts'
import { enableKomga } from '../kit/komga.ts'

const operations = operationsOf(openapiDocument(resources, '1') as any).filter(
  o => o.method === 'GET',
)
const komgaOperations = operationsOf(openapiDocument(komgaRoutes, '1') as any)

test('hidden series are invisible', async t => {
  const w = await createFixture(t)
  await enableKomga(w.admin)
  const secrets = await secretsOf(w)
  t.equal(secrets.length, 7)
  for (const { rule, restrict, role } of rules(w)) {
    const viewer = await w.createUser('admin')
    await organizeHidden(w, viewer)
    await restrict(viewer.id)
    const walk = async (t: Test, key: string, { base = '', of = operations } = {}) => {
      const first = secrets.filter(s => s.isId).map(s => s.text)
      const problems: string[] = []
      let count = 0
      for (const { path, parameters } of of) {
        for (const filled of everyWay(w, path, first)) {
          const more = parameters.flatMap(p => ways[p.name] ?? [])
          const url = `${filled}${more.length > 0 ? `?${more.join('&')}` : ''}`
          const response = await fetch(w.base + base + url, { headers: { 'x-api-key': key } })
          const bytes = await readBody(response)
          const found = secrets.filter(s => !url.includes(s.text) && bytes.includes(s.text))
          const names = found.map(s => s.text)
          if (names.length > 0) problems.push(`${url} ${response.status} has ${names}`)
          const isRequested = secrets.some(s => s.isId && url.includes(s.text))
          if (isRequested && response.status !== 404) problems.push(`${url} ${response.status}`)
          count += 1
        }
      }
      t.same(problems, [])
      t.ok(count > 120, `${count} responses`)
    }
    await t.test(rule, async t => {
      await walk(t, viewer.key)
      const list = await viewer.get('/books?pageSize=500')
      t.equal(list.body.total, list.body.data.length)
      const visible = await viewer.get('/series?pageSize=500')
      t.equal(visible.body.total, visible.body.data.length)
    })
    await t.test(`${rule}, in the compatible API as a ${role}`, async t => {
      const { id, key } = await w.createUser(role)
      await restrict(id)
      const reads = komgaOperations.filter(o => o.method === 'GET')
      await walk(t, key, { base: '/komga', of: reads })
      await compareCounts(t, w, key)
    })
  }
})

/** Lists, their totals and the counts of groups agree, whether they are requested whole or in pages. */
async function compareCounts(t: Test, w: Fixture, key: string) {
  const send = async (path: string, body: object = {}) => {
    const headers = { 'x-api-key': key, 'content-type': 'application/json' }
    const init = { method: 'POST', headers, body: JSON.stringify(body) }
    const response = await fetch(`${w.base}/komga/api/v1${path}`, init)
    return (await response.json()) as any
  }
  const rows = await w.sql<{ id: string }[]>`select id from series where name = 'Hidden'`
  const hidden = new Set(rows.map(({ id }) => id))
  const native = w.withHeaders({ 'x-api-key': key })
  const total = {
    series: (await native.get('/series')).body.total as number,
    books: (await native.get('/books')).body.total as number,
  }
  for (const kind of ['series', 'books'] as const) {
    const whole = await send(`/${kind}/list?unpaged=true`)
    const page = await send(`/${kind}/list?size=1`)
    t.same([whole.content.length, whole.totalElements], [total[kind], total[kind]], kind)
    t.equal(page.totalElements, total[kind])
    const idKey = kind === 'series' ? 'collectionId' : 'seriesId'
    const [first] = kind === 'series' ? w.ids('/collections/{id}', 'id') : [...hidden]
    const condition = { [idKey]: { operator: 'is', value: first } }
    const named = await send(`/${kind}/list?unpaged=true`, { condition })
    t.notOk(named.content.some((item: any) => hidden.has(item.seriesId ?? item.id)))
    t.equal(named.totalElements, named.content.length)
    const searched = await send(`/${kind}/list`, { fullTextSearch: 'hidden' })
    t.equal(searched.totalElements, 0, 'by the name')
  }
  const groups = await send('/series/list/alphabetical-groups')
  const sum = groups.reduce((n: number, group: any) => n + group.count, 0)
  t.equal(sum, total.series)
}

/** What the account organized before the series were hidden from it. */
async function organizeHidden(w: Fixture, viewer: Awaited<ReturnType<Fixture['createUser']>>) {
  const rows = await w.sql<{ series: string; book: string }[]>`
    select s.id as series, b.id as book from series s join book b on b.series_id = s.id
    where s.name = 'Hidden'`
  const seriesIds = rows.map(row => row.series)
  await viewer.post('/want-to-read/bulk', { seriesIds, bookIds: rows.map(row => row.book) })
  for (const id of seriesIds)
    await viewer.put(`/series/${id}/rating`, { rating: 90, notes: 'Unseen title' })
}

// Query parameters that add to a response.
const ways: Record<string, string> = {
  lastEventId: 'lastEventId=0',
  q: 'q=Unseen',
  query: 'query=Unseen',
  // Lists of the compatible API, whole.
  unpaged: 'unpaged=true',
}

/** Rules that hide the series `Hidden` of every library. */
function rules(w: Fixture): Rule[] {
  return [
    {
      rule: 'by a denied tag',
      role: 'reader',
      restrict: id =>
        w.admin.put(`/users/${id}/sharing-tags`, { sharingTagId: w.secretTag, accessMode: 'deny' }),
    },
    {
      rule: 'by an age limit',
      role: 'maintainer',
      async restrict(id) {
        await w.sql`update series set age_rating = 18 where name = 'Hidden'`
        await w.admin.put(`/users/${id}`, { ageLimit: 12 })
      },
    },
  ]
}

/** `role`: of the other account that is restricted. */
type Rule = {
  rule: string
  role: 'reader' | 'maintainer'
  restrict: (accountId: string) => Promise<unknown>
}

const unknownId = '00000000-0000-7000-8000-00000000dead'

type Secret = { text: string; isId: boolean }

async function secretsOf({ sql }: Fixture): Promise<Secret[]> {
  const rows = await sql<{ series: string; book: string; hash: string; cover: string | null }[]>`
    select s.id as series, b.id as book, encode(a.sha256, 'hex') as hash, encode(a.cover, 'hex') as cover
    from series s join book b on b.series_id = s.id join book_artifact a on a.book_id = b.id
    where s.name = 'Hidden'`
  const groups = await sql<{ id: string }[]>`
    select id from collection where name = 'Unseen group'
    union all select id from read_list where name = 'Unseen group'`
  return [
    ...rows.flatMap(r => [
      { text: r.series, isId: true },
      { text: r.book, isId: true },
      { text: r.hash, isId: false },
    ]),
    { text: 'Unseen title', isId: false },
    { text: 'Unseen group', isId: false },
    ...groups.map(({ id }) => ({ text: id, isId: true })),
  ]
}

const maxValues = 3

/** The path with known ids of its first parameter, `preferred` first; other parameters get their first value. */
function everyWay(w: Fixture, path: string, preferred: readonly string[]): string[] {
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(m => m[1]!)
  const [first] = names
  if (!first) return [path]
  const known = w.ids(path, first)
  const values = [...preferred.filter(id => known.includes(id)), ...known]
  const chosen = [...new Set(values)].slice(0, maxValues)
  return chosen.map(value =>
    path.replace(/\{(\w+)\}/g, (_, name: string) =>
      name === first ? encodeURIComponent(value) : (w.ids(path, name)[0] ?? unknownId),
    ),
  )
}
