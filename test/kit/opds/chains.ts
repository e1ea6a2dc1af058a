// Paging of OPDS feeds: the chain of `next` links visits every item once, `previous` leads back.
import { type Document, rel } from './document.ts'
import type { ReportProblem } from './rules.ts'

type Page = { self: string; next: string | null; previous: string | null; items: number }
type Chain = { total: number; id: string; ids: Set<string>; pages: Map<string, Page> }

export function createPagingChecks(report: ReportProblem) {
  const chains = new Map<string, Chain>()
  return {
    visit(url: string, document: Document) {
      const { paging, id } = document
      if (paging === null) return
      const self = rel(document, 'self')?.href ?? url
      const [first, next, previous, last] = ['first', 'next', 'previous', 'last'].map(
        name => rel(document, name)?.href ?? null,
      )
      const complain = (problem: string) => report(url, null, problem)
      // An empty list of OPDS 2.0 contains a navigation entry that leads back.
      const items = paging.total === 0 ? [] : ownItems(document)
      const pages = Math.max(1, Math.ceil(paging.total / paging.size))
      if ((next === null) !== paging.page >= pages) complain(`page ${paging.page}: next is ${next}`)
      if ((previous === null) !== (paging.page === 1))
        complain(`page ${paging.page}: previous is ${previous}`)
      const expected = Math.min(paging.size, paging.total - (paging.page - 1) * paging.size)
      if (items.length !== expected) complain(`has ${items.length} items, not ${expected}`)
      if (pages === 1) return
      if (!first || !last) return complain('has no link first or no link last')
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
      for (const [first, chain] of chains)
        walkChain(first, chain, problem => report(first, null, problem))
    },
  }
}

/** The items of a page, without the groups of other feeds. */
function ownItems({ json, items }: Document) {
  const own = json?.publications ?? json?.navigation
  return own && json?.groups ? items.slice(0, own.length) : items
}

function walkChain(
  first: string,
  { total, ids, pages }: Chain,
  complain: (problem: string) => void,
) {
  const visited = new Set<string>()
  let current: string | null = first
  let before: string | null = null
  while (current !== null && !visited.has(current)) {
    visited.add(current)
    const page: Page | undefined = pages.get(current)
    if (!page) {
      complain(`${current} has another self link, or was not reached`)
      break
    }
    if (page.previous !== before) complain(`previous of ${current} is ${page.previous}`)
    before = current
    current = page.next
  }
  if (visited.size !== pages.size) complain(`${visited.size} of ${pages.size} pages by next`)
  if (ids.size !== total) complain(`its pages contain ${ids.size} of ${total} items`)
}
