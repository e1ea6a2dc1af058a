// Visibility: a series hidden from an account leaks through no GET and no counter.
import { test } from 'tap'
import { resources } from '../../lib/api/resources.ts'
import { openapiDocument } from '../../lib/http/openapi/openapi.ts'
import { createFixture, type Fixture } from '../kit/fixture.ts'
import { readBody } from '../kit/http/body.ts'
import { operationsOf } from '../kit/http/operation.ts'

const operations = operationsOf(openapiDocument(resources, '1') as any).filter(
  o => o.method === 'GET',
)

test('hidden series are invisible', async t => {
  const w = await createFixture(t, { libraryCount: 2 })
  const secrets = await secretsOf(w)
  t.equal(secrets.length, 10)
  for (const [rule, restrict] of Object.entries(rules(w))) {
    const viewer = await w.createUser('admin')
    await organiseHidden(w, viewer)
    await restrict(viewer.id)
    await t.test(rule, async t => {
      for (const { path, parameters } of operations) {
        for (const filled of everyWay(w, path)) {
          const more = parameters.flatMap(p => ways[p.name] ?? [])
          const url = `${filled}${more.length > 0 ? `?${more.join('&')}` : ''}`
          const response = await fetch(w.base + url, { headers: { 'x-api-key': viewer.key } })
          const bytes = await readBody(response)
          const names = secrets.filter(s => !url.includes(s.text) && bytes.includes(s.text))
          t.same(names, [], `${url} ${response.status}`)
          const isRequested = secrets.some(s => s.isId && url.includes(s.text))
          if (isRequested) t.equal(response.status, 404, `${url} is not found`)
        }
      }
      const list = await viewer.get('/books?pageSize=500')
      t.equal(list.body.total, list.body.data.length)
      const visible = await viewer.get('/series?pageSize=500')
      t.equal(visible.body.total, visible.body.data.length)
    })
  }
})

/** What the account organised before the series were hidden from it. */
async function organiseHidden(w: Fixture, viewer: Awaited<ReturnType<Fixture['createUser']>>) {
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
}

/** Rules that hide the series `Hidden` of every library. */
function rules(w: Fixture): Record<string, (accountId: string) => Promise<unknown>> {
  return {
    'by a denied tag': id =>
      w.admin.put(`/users/${id}/sharing-tags`, { sharingTagId: w.secretTag, accessMode: 'deny' }),
    'by an age limit': async id => {
      await w.sql`update series set age_rating = 18 where name = 'Hidden'`
      await w.admin.put(`/users/${id}`, { ageLimit: 12 })
    },
  }
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

/** The path with each known id of its first parameter; other parameters get their first value. */
function everyWay(w: Fixture, path: string): string[] {
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(m => m[1]!)
  const [first] = names
  if (!first) return [path]
  const values = w.ids(path, first).slice(0, 60)
  return values.map(value =>
    path.replace(/\{(\w+)\}/g, (_, name: string) =>
      name === first ? encodeURIComponent(value) : (w.ids(path, name)[0] ?? unknownId),
    ),
  )
}
