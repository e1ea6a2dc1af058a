// A reader who may not see a series finds no trace of it: by no GET of the document, in no count.
import { test } from 'tap'
import { resources } from '../../lib/api/resources.ts'
import { openapiDocument } from '../../lib/http/openapi.ts'
import { bodyOf } from '../kit/body.ts'
import { type World, world } from '../kit/fixture.ts'
import { operationsOf } from '../kit/operation.ts'

const operations = operationsOf(openapiDocument(resources, '1') as any).filter(
  o => o.method === 'GET',
)

test('what is hidden is not there', async t => {
  const w = await world(t, { libraries: 2 })
  const secrets = await secretsOf(w)
  t.equal(secrets.length, 7)
  for (const [rule, restrict] of Object.entries(rules(w))) {
    const viewer = await w.as('admin')
    await restrict(viewer.id)
    await t.test(rule, async t => {
      for (const { path, parameters } of operations) {
        for (const filled of everyWay(w, path)) {
          const more = parameters.flatMap(p => ways[p.name] ?? [])
          const url = `${filled}${more.length > 0 ? `?${more.join('&')}` : ''}`
          const response = await fetch(w.base + url, { headers: { 'x-api-key': viewer.key } })
          const bytes = await bodyOf(response)
          const names = secrets.filter(s => !url.includes(s.text) && bytes.includes(s.text))
          t.same(names, [], `${url} ${response.status}`)
          const asked = secrets.some(s => s.isId && url.includes(s.text))
          if (asked) t.equal(response.status, 404, `${url} is not found`)
        }
      }
      const list = await viewer.get('/books?pageSize=500')
      t.equal(list.body.total, list.body.data.length)
      const visible = await viewer.get('/series?pageSize=500')
      t.equal(visible.body.total, visible.body.data.length)
    })
  }
})

// Under which a GET tells more.
const ways: Record<string, string> = {
  full: 'full=true',
  lastEventId: 'lastEventId=0',
  q: 'q=Unseen',
  query: 'query=Unseen',
}

/** Rules that all hide the series `Hidden` of every library. */
function rules(w: World): Record<string, (accountId: string) => Promise<unknown>> {
  return {
    'by a denied tag': id =>
      w.admin.put(`/users/${id}/sharing-tags`, { sharingTagId: w.secretTag, accessMode: 'deny' }),
    'by an age limit': async id => {
      await w.sql`update series set age_rating = 18 where name = 'Hidden'`
      await w.admin.put(`/users/${id}`, { ageLimit: 12 })
    },
  }
}

const nobody = '00000000-0000-7000-8000-00000000dead'

type Secret = { text: string; isId: boolean }

async function secretsOf({ sql }: World): Promise<Secret[]> {
  const rows = await sql<{ series: string; book: string; hash: string; cover: string | null }[]>`
    select s.id as series, b.id as book, encode(b.sha256, 'hex') as hash, encode(b.cover, 'hex') as cover
    from series s join book b on b.series_id = s.id
    where s.name = 'Hidden'`
  return [
    ...rows.flatMap(r => [
      { text: r.series, isId: true },
      { text: r.book, isId: true },
      { text: r.hash, isId: false },
    ]),
    { text: 'Unseen title', isId: false },
  ]
}

/** The path with each known id of each kind; other parameters take their first value. */
function everyWay(w: World, path: string): string[] {
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(m => m[1]!)
  const [first] = names
  if (!first) return [path]
  const values = w.ids(path, first).slice(0, 60)
  return values.map(value =>
    path.replace(/\{(\w+)\}/g, (_, name: string) =>
      name === first ? encodeURIComponent(value) : (w.ids(path, name)[0] ?? nobody),
    ),
  )
}
