// Who may not see something finds no trace of it in either catalogue: not by following links, not by
// addresses that someone else was given, not in a count.
import { type Test, test } from 'tap'
import { readXml } from '../kit/opds/atom.ts'
import { crawl, type Visit } from '../kit/opds/crawl.ts'
import { type OpdsWorld, opdsWorld, secrets } from '../kit/opds/fixture.ts'
import type { Errand } from '../kit/opds/link-kind.ts'

type Rule = {
  restrict: (w: OpdsWorld, accountId: string) => Promise<{ status: number }>
  /** Which books it hides. */
  hides: (book: Book, w: OpdsWorld) => boolean
  words: string[]
}
type Book = { id: string; seriesId: string; libraryId: string; series: string; title: string }

const rules: Record<string, Rule> = {
  'by library': {
    restrict: ({ admin, main }, id) => admin.put(`/users/${id}`, { libraryIds: [main.id] }),
    hides: ({ libraryId }, { second }) => libraryId === second.id,
    words: [secrets.elsewhere, 'Second library'],
  },
  'by age': {
    restrict: ({ admin }, id) => admin.put(`/users/${id}`, { ageLimit: 12, showsUnrated: true }),
    hides: ({ title }) => title.startsWith(secrets.grown) || title.startsWith(secrets.part),
    words: [secrets.grown, secrets.part],
  },
  'by a denied tag': {
    restrict: ({ admin, tags }, id) =>
      admin.put(`/users/${id}/sharing-tags`, { sharingTagId: tags.secret, accessMode: 'deny' }),
    hides: ({ title }) => title.startsWith(secrets.tagged),
    words: [secrets.tagged],
  },
  'by an allowed tag': {
    restrict: ({ admin, tags }, id) =>
      admin.put(`/users/${id}/sharing-tags`, { sharingTagId: tags.open, accessMode: 'allow' }),
    hides: ({ series }) => !['Long run', 'Partly', 'Filler 1'].includes(series),
    words: [secrets.elsewhere, secrets.grown, secrets.tagged],
  },
}

test('what is hidden is in neither catalogue', async t => {
  const w = await opdsWorld(t, { size: { books: 5, series: 2, titles: 1 } })
  // A series that is for anyone, and none of its books is.
  await w.sql`
    update series set age_rating = null
    where id in (select series_id from book where title like ${`${secrets.grown}%`})`
  const books = await w.sql<Book[]>`
    select b.id, b.series_id as "seriesId", b.library_id as "libraryId", s.title as series, b.title
    from book b join series s on s.id = b.series_id`
  const open = new Set<string>()
  const all = { base: w.base, headers: { 'x-api-key': w.admin.key }, doors: 0, ...words }
  await crawl({
    ...all,
    wants({ what, url }) {
      open.add(url.replace('{pageNumber}', '0').replace('{maxWidth}', '64'))
      return what === 'document'
    },
  })

  for (const [name, rule] of Object.entries(rules))
    await t.test(name, async t => {
      const viewer = await w.as('reader')
      const hidden = books.filter(book => rule.hides(book, w))
      t.ok(hidden.length > 0 && hidden.length < books.length)
      for (const [i, { id }] of hidden.entries())
        await viewer.put(`/books/${id}/progress`, i % 2 ? { completed: true } : { currentPage: 1 })
      t.equal((await rule.restrict(w, viewer.id)).status < 300, true)
      const secret = await secretsOf(w, { hidden, books, rule })
      const headers = { 'x-api-key': viewer.key }

      const seen: string[] = []
      const visit = ({ url, body }: Visit) => {
        const asked = decodeURIComponent(url)
        for (const word of [...secret.ids, ...secret.words])
          if (body.includes(word) && !asked.includes(word)) seen.push(`${word} in ${url}`)
      }
      const wants = ({ what }: Errand) => what === 'document'
      const { wrong } = await crawl({ ...all, headers, visit, wants })
      t.same(wrong, [])
      t.same(seen, [])

      await total(t, { w, headers, path: '/books/recent' }, books.length - hidden.length)
      const left = books.filter(book => !rule.hides(book, w)).map(book => book.seriesId)
      await total(t, { w, headers, path: '/series' }, new Set(left).size)
      await directly(t, { w, headers, ids: secret.ids, words: rule.words }, open)
    })
})

// What is searched for are the words themselves.
const words = { terms: ['run', ...Object.values(secrets)] }

async function secretsOf(
  { sql, second }: OpdsWorld,
  { hidden, books, rule }: { hidden: Book[]; books: Book[]; rule: Rule },
) {
  const gone = new Set(hidden.map(book => book.id))
  const kept = new Set(books.filter(book => !gone.has(book.id)).map(book => book.seriesId))
  const series = hidden.map(book => book.seriesId).filter(id => !kept.has(id))
  const hashes = await sql<{ hash: string }[]>`
    select encode(sha256, 'hex') as hash from book where id = any(${[...gone]})`
  const libraries = rule.words.includes('Second library') ? [second.id] : []
  return {
    ids: [...gone, ...new Set(series), ...libraries],
    words: [...rule.words, ...hashes.map(row => row.hash)],
  }
}

type Asking = { w: OpdsWorld; headers: Record<string, string> }

async function total(t: Test, { w, headers, path }: Asking & { path: string }, wanted: number) {
  const atom = await fetch(`${w.base}/opds/v1${path}`, { headers })
  t.equal(readXml(await atom.text()).paging!.total, wanted, `${path} holds ${wanted}`)
  const json: any = await (await fetch(`${w.base}/opds/v2${path}`, { headers })).json()
  t.equal(json.metadata.numberOfItems, wanted)
}

/** Addresses that were good for someone else: with a hidden id in the path they are none; elsewhere nothing is found by one. */
async function directly(
  t: Test,
  { w, headers, ids, words }: Asking & { ids: string[]; words: string[] },
  open: Set<string>,
) {
  const problems: string[] = []
  let tried = 0
  for (const url of open) {
    const { pathname, search } = new URL(url)
    const isHidden = ids.some(id => pathname.includes(id))
    const asked = decodeURIComponent(search)
    if (!isHidden && ![...ids, ...words].some(word => asked.includes(word))) continue
    tried += 1
    const response = await fetch(url, { headers })
    const body = Buffer.from(await response.arrayBuffer())
    if (isHidden && response.status !== 404) problems.push(`${url} answers ${response.status}`)
    const told = ids.filter(id => !url.includes(id) && body.includes(id))
    if (told.length > 0) problems.push(`${url} tells ${told}`)
  }
  t.ok(tried > 40, `${tried} addresses`)
  t.same(problems, [])
  const put = await fetch(`${w.base}/opds/v2/books/${ids[0]}/progression`, {
    method: 'PUT',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify({
      modified: new Date().toISOString(),
      device: { id: 'a', name: 'a' },
      locator: { href: 'a', type: 'image/png', locations: { position: 1 } },
    }),
  })
  t.equal(put.status, 404)
}
