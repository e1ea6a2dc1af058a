// Consistency of links with their targets over a whole crawl: feed kinds, item counts, one root per
// catalog, and one id per book wherever it is listed.
import { type Document, rel, rels } from './document.ts'
import { feedKind } from './link-kind.ts'
import type { ReportProblem } from './rules.ts'

type Claim = { value: string; from: string }

export function createLinkChecks(report: ReportProblem) {
  const counts = createClaims('items', report)
  const kinds = createClaims('kind of feed', report)
  const feeds = createClaims('id of the feed', report)
  const books = createClaims('id of the book', report)
  const starts = [new Map<string, string>(), new Map<string, string>()]
  return {
    visit(url: string, document: Document) {
      const { version, items, links, id } = document
      counts.observe(url, String(totalOf(document)))
      const self = rel(document, 'self')
      if (self) feeds.claim(self.href, { value: id, from: url })
      feeds.observe(url, id)
      if (self && version === 1) kinds.observe(url, feedKind(self.type) ?? '')
      const start = rel(document, 'start')
      if (start) starts[version - 1]!.set(start.href, url)
      for (const link of [...links, ...items.flatMap(item => item.links)]) {
        const from = url
        if (link.isTemplate) continue
        if (link.count !== null) counts.claim(link.href, { value: String(link.count), from })
        const kind = feedKind(link.type)
        if (kind !== undefined) kinds.claim(link.href, { value: kind, from })
      }
      for (const item of items) {
        const file = item.links.find(link => link.rels.includes(rels.acquisition))
        if (!file) continue
        books.claim(file.href, { value: item.id, from: url })
        books.observe(file.href, item.id)
      }
    },
    end() {
      for (const claims of [counts, kinds, feeds, books]) claims.end()
      for (const roots of starts) {
        if (roots.size < 2) continue
        for (const [url, from] of roots) report(url, from, `is one of ${roots.size} roots`)
      }
    },
  }
}

/** The home of OPDS 2.0 has no total. */
function totalOf({ paging, items, version }: Document): number | undefined {
  if (paging) return paging.total
  return version === 2 ? undefined : items.length
}

/** What links claim about a URL, compared at the end with what was observed there. */
function createClaims(what: string, report: ReportProblem) {
  const claims = new Map<string, Claim>()
  const observations = new Map<string, string>()
  return {
    claim(url: string, claim: Claim) {
      const earlier = claims.get(url)
      if (earlier && earlier.value !== claim.value)
        report(url, claim.from, `${what}: ${claim.value} here, ${earlier.value} in ${earlier.from}`)
      else claims.set(url, claim)
    },
    observe: (url: string, value: string) => observations.set(url, value),
    end() {
      for (const [url, { value, from }] of claims) {
        const observed = observations.get(url)
        if (observed !== undefined && observed !== 'undefined' && observed !== value)
          report(url, from, `${what}: ${observed}, but the link claims ${value}`)
      }
    },
  }
}
