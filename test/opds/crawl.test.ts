// Everything that reading apps can reach from either root, on a library that tries catalogues.
import { type Test, test } from 'tap'
import { readXml } from '../kit/opds/atom.ts'
import { crawl, type Visit } from '../kit/opds/crawl.ts'
import { type OpdsWorld, opdsWorld } from '../kit/opds/fixture.ts'
import { openRules } from '../kit/opds/rules.ts'
import { strictly } from '../kit/opds/validators.ts'

test('both catalogues', async t => {
  const w = await opdsWorld(t)
  await t.test('lead where they say, in documents that validators and apps read', t => walk(t, w))
  await t.test('would not pass with a feed that is wrong', t => spoil(t, w))
})

async function walk(t: Test, w: OpdsWorld) {
  const problems: string[] = []
  const found = [new Map<string, string>(), new Map<string, string>()]
  const visit = async (visit: Visit) => {
    problems.push(...(await strictly(visit)))
    const { document } = visit
    for (const item of document?.items ?? [])
      if (item.isBook) found[document!.version - 1]!.set(idIn(item.links[0]!.href), item.title)
  }
  const terms = ['run', `Tom & "Jerry" <3> 100% #1?`, 'nothing at all']
  const { wrong, links } = await crawl({ base: w.base, headers: w.basic(), terms, visit })
  t.same(wrong, [])
  t.same(problems, [])
  t.ok(links.document > 500 && links.image > 500 && links.stream > 100, JSON.stringify(links))

  const books = await w.sql<{ id: string; title: string }[]>`select id, title from book`
  for (const [i, titles] of found.entries()) {
    t.equal(titles.size, books.length, `every book is in catalogue ${i + 1}`)
    const lost = books.filter(book => !said(titles.get(book.id)!).includes(said(book.title)))
    t.same(lost, [], 'whatever its title is')
  }
}

/** What a crawl is worth is what it complains of. */
async function spoil(t: Test, w: OpdsWorld) {
  const [series] = await w.sql<{ id: string }[]>`select id from series where title = 'Long run'`
  const url = `${w.base}/opds/v1/series/${series!.id}`
  const good = await (await fetch(url, { headers: w.basic() })).text()
  t.same(complaints(url, good), [])
  const cases: [found: string | RegExp, instead: string, complaint: string | RegExp][] = [
    [/<updated>.*?</, '<updated>2001-01-01T00:00:00Z<', 'was updated at 2001'],
    [/<updated>.*?</, '<updated>yesterday<', 'was updated at yesterday'],
    ['rel="start"', 'rel="related"', 'has no link start'],
    ['rel="next"', 'rel="related"', 'next is null'],
    ['rel="http://opds-spec.org/acquisition"', 'rel="related"', 'holds books and other entries'],
    [/(?<=<id>)urn:uuid:[^<]+/g, 'urn:uuid:series-1', 'its id is urn:uuid:series-1'],
    [
      /(?<=<id>)urn:uuid:[^<]+/g,
      'urn:uuid:0190d1a2-0000-7000-8000-000000000000',
      'holds an id twice',
    ],
    [' opds:activeFacet="true"', '', '0 facets are active'],
    [/(?<=totalResults>)52/, '53', 'items: 53 where 52 was said'],
    [/(?<=itemsPerPage>)50/, '51', 'holds 50 items, not 51'],
    ['opds:facetGroup="Sort"', 'opds:facetGroup="Alone"', 'Alone is a facet alone'],
    [/(?<=rel="self"[^>]*kind=)acquisition/, 'navigation', 'calls itself navigation'],
  ]
  for (const [found, instead, complaint] of cases) {
    const bad = good.replace(found, instead)
    t.not(bad, good, `${found} is there`)
    t.match(complaints(url, bad).join('\n'), complaint)
  }
}

function complaints(url: string, feed: string): string[] {
  const told: string[] = []
  const rules = openRules((_url, _from, problem) => told.push(problem))
  const errand = { what: 'document', url, from: null, link: null, version: 1, facets: 0 } as const
  rules.visit(errand, readXml(feed))
  rules.end(false)
  return told
}

const idIn = (href: string) => /[\da-f]{8}-[\da-f-]{27}/.exec(href)![0]

/** Without what XML cannot say; blanks are as good as each other. */
const said = (title: string) =>
  title
    .replace(/[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/g, '')
    .replace(/\s+/g, ' ')
    .trim()
