// Everything that reading apps can reach from either root, on a library that tries catalogues.
import { test } from 'tap'
import { crawl, type Visit } from '../kit/crawl.ts'
import { readXml } from '../kit/opds/atom.ts'
import { openRules } from '../kit/opds/rules.ts'
import { strictly } from '../kit/opds/strict.ts'
import { opdsWorld } from '../kit/opds-world.ts'

test('every link of both catalogues leads where it says, in documents that validators and apps read', async t => {
  const w = await opdsWorld(t)
  const problems: string[] = []
  const found = [new Map<string, string>(), new Map<string, string>()]
  const visit = async (visit: Visit) => {
    problems.push(...(await strictly(visit)))
    const { document } = visit
    for (const item of document?.items ?? [])
      if (item.isBook) found[document!.version - 1]!.set(idIn(item.links[0]!.href), item.title)
  }
  const { wrong, links } = await crawl({
    base: w.base,
    headers: w.basic(),
    terms: ['run', `Tom & "Jerry" <3> 100% #1?`, 'nothing at all'],
    visit,
  })
  t.same(wrong, [])
  t.same(problems, [])
  t.ok(links.document > 500 && links.image > 500 && links.stream > 100, JSON.stringify(links))

  const books = await w.sql<{ id: string; title: string }[]>`select id, title from book`
  for (const [i, titles] of found.entries()) {
    t.equal(titles.size, books.length, `every book is in catalogue ${i + 1}`)
    const lost = books.filter(book => !said(titles.get(book.id)!).includes(said(book.title)))
    t.same(lost, [], 'whatever its title is')
  }
})

/** What a crawl is worth is what it complains of. */
test('the crawler notices what is wrong with a feed', async t => {
  const w = await opdsWorld(t, { size: { books: 3, series: 1, titles: 0 } })
  const [{ id }] = await w.sql<[{ id: string }]>`select id from series where title = 'Long run'`
  const url = `${w.base}/opds/v1/series/${id}?pageSize=2`
  const good = await (await fetch(url, { headers: w.basic() })).text()
  const complaints = (text: string) => {
    const said: string[] = []
    const rules = openRules((_url, _from, problem) => said.push(problem))
    const errand = { what: 'document', url, from: null, link: null, version: 1, facets: 0 } as const
    rules.visit(errand, readXml(text))
    rules.end(false)
    return said
  }
  t.same(complaints(good), [])
  const cases: [found: string | RegExp, instead: string, complaint: RegExp][] = [
    [/<updated>.*?</, '<updated>2001-01-01T00:00:00Z<', /was updated at 2001/],
    [/<updated>.*?</, '<updated>yesterday<', /was updated at yesterday/],
    [/rel="start"/, 'rel="related"', /no link start/],
    [/rel="next"/, 'rel="related"', /next is null/],
    [/rel="http:\/\/opds-spec.org\/acquisition"/, 'rel="related"', /books and other entries/],
    [/urn:uuid:[^<]+(?=<\/id><[^i])/g, 'urn:uuid:series-1', /its id is/],
    [/ opds:activeFacet="true"/, '', /0 facets are active/],
    [/totalResults>3/, 'totalResults>4', /items: 4 where 3 was said/],
    [/itemsPerPage>2/, 'itemsPerPage>3', /holds 2 items, not 3/],
    [/opds:facetGroup="Sort"/, 'opds:facetGroup="Alone"', /is a facet alone/],
    [
      /kind=acquisition(?="[^>]*?rel="self")|(?<=rel="self"[^>]*)kind=acquisition/,
      'kind=navigation',
      /calls itself navigation/,
    ],
  ]
  for (const [found, instead, complaint] of cases) {
    const bad = good.replace(found, instead)
    t.not(bad, good, `${found} is there`)
    t.match(complaints(bad).join('\n'), complaint)
  }
})

const idIn = (href: string) => /[\da-f]{8}-[\da-f-]{27}/.exec(href)![0]

/** Without what XML cannot say; blanks are as good as each other. */
const said = (title: string) =>
  title
    .replace(/[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/g, '')
    .replace(/\s+/g, ' ')
    .trim()
