// Visibility: restricted accounts find no trace of hidden books in either catalog, not by following links,
// not with URLs from another account, not in a count.
import { type Test, test } from 'tap'
import { readXml } from '../../kit/opds/atom.ts'
import { crawl, type Visit } from '../../kit/opds/crawl.ts'
import { urlPattern } from '../../kit/opds/entry-points.ts'
import { createOpdsFixture, type OpdsFixture, secretWords } from '../../kit/opds/fixture.ts'
import type { FollowedLink } from '../../kit/opds/link-kind.ts'

type Rule = {
  restrict: (fixture: OpdsFixture, accountId: string) => Promise<{ status: number }>
  /** Whether it hides the book. */
  hides: (book: Book, fixture: OpdsFixture) => boolean
  words: string[]
}
type Book = { id: string; seriesId: string; libraryId: string; series: string; title: string }

const rules: Record<string, Rule> = {
  'by library': {
    restrict: ({ admin, main }, id) => admin.put(`/users/${id}`, { libraryIds: [main.id] }),
    hides: ({ libraryId }, { second }) => libraryId === second.id,
    words: [secretWords.otherLibrary, 'Second library'],
  },
  'by age': {
    restrict: ({ admin }, id) => admin.put(`/users/${id}`, { ageLimit: 12, showsUnrated: true }),
    hides: ({ title }) =>
      title.startsWith(secretWords.adult) || title.startsWith(secretWords.partlyAdult),
    words: [secretWords.adult, secretWords.partlyAdult],
  },
  'by a denied tag': {
    restrict: ({ admin, tags }, id) =>
      admin.put(`/users/${id}/sharing-tags`, { sharingTagId: tags.secret, accessMode: 'deny' }),
    hides: ({ title }) => title.startsWith(secretWords.tagged),
    words: [secretWords.tagged],
  },
  'by an allowed tag': {
    restrict: ({ admin, tags }, id) =>
      admin.put(`/users/${id}/sharing-tags`, { sharingTagId: tags.open, accessMode: 'allow' }),
    hides: ({ series }) => !['Long run', 'Partly', 'Filler 1'].includes(series),
    words: [secretWords.otherLibrary, secretWords.adult, secretWords.tagged],
  },
}

test('hidden books are in neither catalog', async t => {
  const fixture = await createOpdsFixture(t, { size: { books: 5, series: 2, titles: 1 } })
  // A visible series without any visible book.
  await fixture.sql`
    update series set age_rating = null
    where id in (select series_id from book where title like ${`${secretWords.adult}%`})`
  const books = await fixture.sql<Book[]>`
    select b.id, b.series_id as "seriesId", b.library_id as "libraryId", s.title as series, b.title
    from book b join series s on s.id = b.series_id`
  const urls = new Set<string>()
  const all = {
    base: fixture.base,
    headers: { 'x-api-key': fixture.admin.key },
    checksPerPattern: 0,
    ...words,
  }
  await crawl({
    ...all,
    shouldFollow({ kind, url }) {
      urls.add(url.replace('{pageNumber}', '0').replace('{maxWidth}', '64'))
      return kind === 'document'
    },
  })

  for (const [name, rule] of Object.entries(rules))
    await t.test(name, async t => {
      const viewer = await fixture.createUser('reader')
      const hidden = books.filter(book => rule.hides(book, fixture))
      t.ok(hidden.length > 0 && hidden.length < books.length)
      for (const [i, { id }] of hidden.entries())
        await viewer.put(`/books/${id}/progress`, i % 2 ? { completed: true } : { currentPage: 1 })
      t.equal((await rule.restrict(fixture, viewer.id)).status < 300, true)
      const secret = await secretsOf(fixture, { hidden, books, rule })
      const headers = { 'x-api-key': viewer.key }

      const leaks: string[] = []
      const visit = ({ url, body }: Visit) => {
        const decodedUrl = decodeURIComponent(url)
        for (const word of [...secret.ids, ...secret.words])
          if (body.includes(word) && !decodedUrl.includes(word)) leaks.push(`${word} in ${url}`)
      }
      const shouldFollow = ({ kind }: FollowedLink) => kind === 'document'
      const { problems: wrong } = await crawl({
        ...{ ...all, headers, visit, shouldFollow },
        searchTerms: ['run', ...rule.words],
        // The rule that hides books within series is the finest.
        maxFacets: name === 'by age' ? 1 : 0,
      })
      t.same(wrong, [])
      t.same(leaks, [])

      await checkTotal(t, { fixture, headers, path: '/books/recent' }, books.length - hidden.length)
      const visible = books.filter(book => !rule.hides(book, fixture)).map(book => book.seriesId)
      await checkTotal(t, { fixture, headers, path: '/series' }, new Set(visible).size)
      await checkDirectAccess(t, { fixture, headers, ids: secret.ids, words: rule.words }, urls)
    })
})

// The crawl searches for the secret words themselves.
const words = { searchTerms: ['run', ...Object.values(secretWords)] }

async function secretsOf(
  { sql, second }: OpdsFixture,
  { hidden, books, rule }: { hidden: Book[]; books: Book[]; rule: Rule },
) {
  const hiddenIds = new Set(hidden.map(book => book.id))
  const visibleSeries = new Set(
    books.filter(book => !hiddenIds.has(book.id)).map(book => book.seriesId),
  )
  const series = hidden.map(book => book.seriesId).filter(id => !visibleSeries.has(id))
  const hashes = await sql<{ hash: string }[]>`
    select encode(sha256, 'hex') as hash from book_artifact where book_id = any(${[...hiddenIds]})`
  const libraries = rule.words.includes('Second library') ? [second.id] : []
  return {
    ids: [...hiddenIds, ...new Set(series), ...libraries],
    words: [...rule.words, ...hashes.map(row => row.hash)],
  }
}

type Access = { fixture: OpdsFixture; headers: Record<string, string> }

async function checkTotal(
  t: Test,
  { fixture, headers, path }: Access & { path: string },
  expected: number,
) {
  const atom = await fetch(`${fixture.base}/opds/v1${path}`, { headers })
  t.equal(readXml(await atom.text()).paging!.total, expected, `${path} has ${expected} items`)
  const json: any = await (await fetch(`${fixture.base}/opds/v2${path}`, { headers })).json()
  t.equal(json.metadata.numberOfItems, expected)
}

// Three of many books with equal links.
const triesPerPattern = 3

/** URLs of another account: not found with a hidden id in the path; with one in the query they have no results. */
async function checkDirectAccess(
  t: Test,
  { fixture, headers, ids, words }: Access & { ids: string[]; words: string[] },
  urls: Set<string>,
) {
  const problems: string[] = []
  const tried = new Map<string, number>()
  let requests = 0
  for (const url of urls) {
    const { pathname, search } = new URL(url)
    const isHidden = ids.some(id => pathname.includes(id))
    const query = decodeURIComponent(search)
    if (!isHidden && ![...ids, ...words].some(word => query.includes(word))) continue
    const count = tried.get(urlPattern(url)) ?? 0
    if (count >= triesPerPattern) continue
    tried.set(urlPattern(url), count + 1)
    requests += 1
    const response = await fetch(url, { headers })
    const body = Buffer.from(await response.arrayBuffer())
    if (isHidden && response.status !== 404) problems.push(`${url} returns ${response.status}`)
    const leaked = ids.filter(id => !url.includes(id) && body.includes(id))
    if (leaked.length > 0) problems.push(`${url} contains ${leaked}`)
  }
  t.ok(requests > 40, `${requests} URLs`)
  t.same(problems, [])
  const put = await fetch(`${fixture.base}/opds/v2/books/${ids[0]}/progression`, {
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
