// Visibility: a series hidden from an account leaks through no GET and no counter, and to the compatible API its id
// is one that does not exist.
import { type Test, test } from 'tap'
import { resources } from '../../lib/api/resources.ts'
import { openapiDocument } from '../../lib/http/openapi/openapi.ts'
import { komgaResources } from '../../lib/protocols/komga/routes/routes.ts'
import { createFixture, type Fixture } from '../kit/fixture.ts'
import { readBody } from '../kit/http/body.ts'
import { operationsOf } from '../kit/http/operation.ts'
import { enableKomga } from '../kit/komga.ts'

const operations = operationsOf(openapiDocument(resources, '1') as any).filter(
  o => o.method === 'GET',
)
const komgaOperations = operationsOf(openapiDocument(komgaResources, '1') as any)

test('hidden series are invisible', async t => {
  const w = await createFixture(t, { libraryCount: 2 })
  await enableKomga(w.admin)
  const secrets = await secretsOf(w)
  t.equal(secrets.length, 10)
  for (const { rule, restrict, role } of rules(w)) {
    const viewer = await w.createUser('admin')
    await organizeHidden(w, viewer)
    await restrict(viewer.id)
    const walk = async (t: Test, key: string, { base = '', of = operations, limit = 60 } = {}) => {
      const first = secrets.filter(s => s.isId).map(s => s.text)
      for (const { path, parameters } of of) {
        for (const filled of everyWay(w, path, { first, limit })) {
          const more = parameters.flatMap(p => ways[p.name] ?? [])
          const url = `${filled}${more.length > 0 ? `?${more.join('&')}` : ''}`
          const response = await fetch(w.base + base + url, { headers: { 'x-api-key': key } })
          const bytes = await readBody(response)
          const names = secrets.filter(s => !url.includes(s.text) && bytes.includes(s.text))
          t.same(names, [], `${url} ${response.status}`)
          const isRequested = secrets.some(s => s.isId && url.includes(s.text))
          if (isRequested) t.equal(response.status, 404, `${url} is not found`)
        }
      }
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
      await walk(t, key, { base: '/komga', of: reads, limit: 4 })
      await compareWithUnknown(t, w, { key, secrets })
      await compareCounts(t, w, key)
    })
  }
})

type Restricted = { key: string; secrets: readonly Secret[] }

/** Every operation of the compatible API responds to a hidden id as to one that does not exist. */
async function compareWithUnknown(t: Test, w: Fixture, { key, secrets }: Restricted) {
  const isHidden = (id: string) => secrets.some(({ isId, text }) => isId && text === id)
  for (const { method, path, body } of komgaOperations) {
    const names = [...path.matchAll(/\{(\w*id)\}/gi)].map(match => match[1]!)
    const respond = async (name: string, id: string) => {
      const url = path.replace(/\{(\w+)\}/g, (_, other: string) =>
        other === name ? id : encodeURIComponent(w.ids(path, other)[0] ?? 'x'),
      )
      const response = await fetch(`${w.base}/komga${url}`, {
        method,
        headers: { 'x-api-key': key, ...(body ? { 'content-type': 'application/json' } : {}) },
        ...(body ? { body: '{}' } : {}),
      })
      const text = (await readBody(response)).toString().replaceAll(id, unknownId)
      return [response.status, text.replace(/"timestamp":"[^"]*"/, '')]
    }
    // One of them: the others are as hidden.
    for (const name of names)
      for (const id of w.ids(path, name).filter(isHidden).slice(0, 1)) {
        const [hidden, unknown] = [await respond(name, id), await respond(name, unknownId)]
        t.same(hidden, unknown, `${method} ${path}`)
        t.ok(Number(hidden[0]) >= 400, `${method} ${path} ${hidden[0]}`)
      }
  }
}

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

type Ways = { first: readonly string[]; limit: number }

/** The path with each known id of its first parameter, up to a limit; other parameters get their first value. */
function everyWay(w: Fixture, path: string, { first: preferred, limit }: Ways): string[] {
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(m => m[1]!)
  const [first] = names
  if (!first) return [path]
  const known = w.ids(path, first)
  const values = [...preferred.filter(id => known.includes(id)), ...known]
  const chosen = [...new Set(values)].slice(0, limit)
  return chosen.map(value =>
    path.replace(/\{(\w+)\}/g, (_, name: string) =>
      name === first ? encodeURIComponent(value) : (w.ids(path, name)[0] ?? unknownId),
    ),
  )
}
