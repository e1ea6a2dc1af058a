// Crawl of everything reachable from either root, on a library of difficult books.
import { type Test, test } from 'tap'
import { readXml } from '../../kit/opds/atom.ts'
import { crawl, type Visit } from '../../kit/opds/crawl.ts'
import { createOpdsFixture, type OpdsFixture } from '../../kit/opds/fixture.ts'
import { createRules } from '../../kit/opds/rules.ts'
import { validationErrors } from '../../kit/opds/validators.ts'

test('both catalogs', async t => {
  const fixture = await createOpdsFixture(t)
  await t.test('all links work, and all documents are valid', t => walk(t, fixture))
  await t.test('the crawl rules detect invalid feeds', t => verifyRules(t, fixture))
})

async function walk(t: Test, fixture: OpdsFixture) {
  const problems: string[] = []
  const found = [new Map<string, string>(), new Map<string, string>()]
  const visit = async (visit: Visit) => {
    problems.push(...(await validationErrors(visit)))
    const { document } = visit
    for (const item of document?.items ?? [])
      if (item.isBook) found[document!.version - 1]!.set(idIn(item.links[0]!.href), item.title)
  }
  const alike = await alikeIds(fixture)
  const terms = ['run', `Tom & "Jerry" <3> 100% #1?`, 'nothing at all']
  const { problems: wrong, links } = await crawl({
    base: fixture.base,
    headers: fixture.basic(),
    searchTerms: terms,
    visit,
    shouldFollow: ({ url }) => !alike.has(uuid.exec(url)?.[0] ?? ''),
  })
  // What is no archive at all is not handed out.
  t.same(
    wrong.filter(line => !/\/file\/broken\.cbz: has status 422/.test(line)),
    [],
  )
  t.same(problems, [])
  t.ok(links.document > 500 && links.image > 200 && links.stream > 50, JSON.stringify(links))

  const books = await fixture.sql<{ id: string; title: string }[]>`select id, title from book`
  for (const [i, titles] of found.entries()) {
    t.equal(titles.size, books.length, `every book is in catalog ${i + 1}`)
    const lost = books.filter(
      book => !normalize(titles.get(book.id)!).includes(normalize(book.title)),
    )
    t.same(lost, [], 'with its title')
  }
}

/** Negative control: each defect is reported. */
async function verifyRules(t: Test, fixture: OpdsFixture) {
  const [series] = await fixture.sql<
    { id: string }[]
  >`select id from series where title = 'Long run'`
  const url = `${fixture.base}/opds/v1/series/${series!.id}`
  const good = await (await fetch(url, { headers: fixture.basic() })).text()
  t.same(complaints(url, good), [])
  const cases: [pattern: string | RegExp, replacement: string, complaint: string | RegExp][] = [
    [/<updated>.*?</, '<updated>2001-01-01T00:00:00Z<', 'was updated at 2001'],
    [/<updated>.*?</, '<updated>yesterday<', 'was updated at yesterday'],
    ['rel="start"', 'rel="related"', 'has no link start'],
    ['rel="next"', 'rel="related"', 'next is null'],
    ['rel="http://opds-spec.org/acquisition"', 'rel="related"', 'contains books and other entries'],
    [/(?<=<id>)urn:uuid:[^<]+/g, 'urn:uuid:series-1', 'its id is urn:uuid:series-1'],
    [
      /(?<=<id>)urn:uuid:[^<]+/g,
      'urn:uuid:0190d1a2-0000-7000-8000-000000000000',
      'contains an id twice',
    ],
    [' opds:activeFacet="true"', '', '0 facets are active'],
    [/(?<=totalResults>)52/, '53', 'items: 53, but the link claims 52'],
    [/(?<=itemsPerPage>)50/, '51', 'has 50 items, not 51'],
    ['opds:facetGroup="Sort"', 'opds:facetGroup="Alone"', 'Alone has a single facet'],
    [/(?<=rel="self"[^>]*kind=)acquisition/, 'navigation', 'has kind navigation in its self link'],
  ]
  for (const [pattern, replacement, complaint] of cases) {
    const bad = good.replace(pattern, replacement)
    t.not(bad, good, `${pattern} occurs`)
    t.match(complaints(url, bad).join('\n'), complaint)
  }
}

function complaints(url: string, feed: string): string[] {
  const problems: string[] = []
  const rules = createRules((_url, _from, problem) => problems.push(problem))
  const root = { kind: 'document', url, from: null, link: null, version: 1, facets: 0 } as const
  rules.visit(root, readXml(feed))
  rules.end(false)
  return problems
}

/** Books and series that differ from others by a number only: their own links are not followed. */
async function alikeIds({ sql }: OpdsFixture): Promise<Set<string>> {
  const rows = await sql<{ id: string; seriesId: string; series: string }[]>`
    select b.id, s.id as "seriesId", s.name as series from book b join series s on s.id = b.series_id
    where s.name = 'Long run' and convert_from(b.name, 'latin1') !~ '00[1-3].cbz' or s.name ~ '^Filler [1-9][0-9]'`
  return new Set(
    rows.flatMap(({ id, seriesId, series }) => (series === 'Long run' ? [id] : [id, seriesId])),
  )
}

const uuid = /[\da-f]{8}-[\da-f-]{27}/
const idIn = (href: string) => uuid.exec(href)![0]

/** Without characters that XML cannot contain; all white space is equal. */
const normalize = (title: string) =>
  title
    .replace(/[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/g, '')
    .replace(/\s+/g, ' ')
    .trim()
