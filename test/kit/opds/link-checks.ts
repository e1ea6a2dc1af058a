// What links say of where they lead, held against what is there: kinds, counts, the one root, and the
// id of a book, which is the same wherever it stands.
import { type Document, rel, rels } from './document.ts'
import { kindOf } from './link-kind.ts'
import type { Say } from './rules.ts'

type Said = { value: string; from: string }

export function openPromises(say: Say) {
  const counts = openLedger('items', say)
  const kinds = openLedger('the kind of feed', say)
  const feeds = openLedger('the id of the feed', say)
  const books = openLedger('the id of the book', say)
  const starts = [new Map<string, string>(), new Map<string, string>()]
  return {
    visit(url: string, document: Document) {
      const { version, items, links, id } = document
      counts.found(url, String(totalOf(document)))
      const self = rel(document, 'self')
      if (self) feeds.said(self.href, { value: id, from: url })
      feeds.found(url, id)
      if (self && version === 1) kinds.found(url, kindOf(self.type) ?? '')
      const start = rel(document, 'start')
      if (start) starts[version - 1]!.set(start.href, url)
      for (const link of [...links, ...items.flatMap(item => item.links)]) {
        const from = url
        if (link.isTemplate) continue
        if (link.count !== null) counts.said(link.href, { value: String(link.count), from })
        const kind = kindOf(link.type)
        if (kind !== undefined) kinds.said(link.href, { value: kind, from })
      }
      for (const item of items) {
        const file = item.links.find(link => link.rels.includes(rels.acquisition))
        if (!file) continue
        books.said(file.href, { value: item.id, from: url })
        books.found(file.href, item.id)
      }
    },
    end() {
      for (const ledger of [counts, kinds, feeds, books]) ledger.end()
      for (const found of starts) {
        if (found.size < 2) continue
        for (const [url, from] of found) say(url, from, `is one of ${found.size} roots`)
      }
    },
  }
}

/** Nobody counts what a home holds. */
function totalOf({ paging, items, version }: Document): number | undefined {
  if (paging) return paging.total
  return version === 2 ? undefined : items.length
}

/** What is said of addresses, and what is found there. */
function openLedger(what: string, say: Say) {
  const promised = new Map<string, Said>()
  const facts = new Map<string, string>()
  return {
    said(url: string, said: Said) {
      const before = promised.get(url)
      if (before && before.value !== said.value)
        say(url, said.from, `${what}: ${said.value} is said, in ${before.from} ${before.value}`)
      else promised.set(url, said)
    },
    found: (url: string, value: string) => facts.set(url, value),
    end() {
      for (const [url, { value, from }] of promised) {
        const fact = facts.get(url)
        if (fact !== undefined && fact !== 'undefined' && fact !== value)
          say(url, from, `${what}: ${fact} where ${value} was said`)
      }
    },
  }
}
