// Feeds of several pages: the chain of `next` visits every item once, and `previous` leads back.
import { type Document, rel } from './document.ts'
import type { Say } from './rules.ts'

type Page = { self: string; next: string | null; previous: string | null; items: number }
type Chain = { total: number; id: string; ids: Set<string>; pages: Map<string, Page> }

export function openChains(say: Say) {
  const chains = new Map<string, Chain>()
  return {
    visit(url: string, document: Document) {
      const { paging, id } = document
      if (paging === null) return
      const self = rel(document, 'self')?.href ?? url
      const [first, next, previous, last] = ['first', 'next', 'previous', 'last'].map(
        name => rel(document, name)?.href ?? null,
      )
      const complain = (problem: string) => say(url, null, problem)
      // An empty list of OPDS 2.0 holds a way back.
      const items = paging.total === 0 ? [] : document.items
      const pages = Math.max(1, Math.ceil(paging.total / paging.size))
      if ((next === null) !== paging.page >= pages) complain(`page ${paging.page}: next is ${next}`)
      if ((previous === null) !== (paging.page === 1))
        complain(`page ${paging.page}: previous is ${previous}`)
      const here = Math.min(paging.size, paging.total - (paging.page - 1) * paging.size)
      if (items.length !== here) complain(`holds ${items.length} items, not ${here}`)
      if (pages === 1) return
      if (!first || !last) return complain('has no first or no last')
      const chain = chains.get(first) ?? {
        total: paging.total,
        id,
        ids: new Set<string>(),
        pages: new Map<string, Page>(),
      }
      chains.set(first, chain)
      if (chain.total !== paging.total) complain(`has ${paging.total} items, not ${chain.total}`)
      if (document.version === 1 && chain.id !== id) complain('has another id on every page')
      chain.pages.set(self, { self, next: next!, previous: previous!, items: items.length })
      for (const item of items) chain.ids.add(item.id)
    },
    end() {
      for (const [first, { total, ids, pages }] of chains) {
        const complain = (problem: string) => say(first, null, problem)
        const walked = new Set<string>()
        let at: string | null = first
        let before: string | null = null
        while (at !== null && !walked.has(at)) {
          walked.add(at)
          const page: Page | undefined = pages.get(at)
          if (!page) {
            complain(`${at} calls itself by another address, or is not there`)
            break
          }
          if (page.previous !== before) complain(`previous of ${at} is ${page.previous}`)
          before = at
          at = page.next
        }
        if (walked.size !== pages.size) complain(`${walked.size} of ${pages.size} pages by next`)
        if (ids.size !== total) complain(`its pages hold ${ids.size} of ${total}`)
      }
    },
  }
}
