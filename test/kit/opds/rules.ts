// Rules for OPDS documents that no schema expresses, checked over all documents of a crawl.

import { createPagingChecks } from './chains.ts'
import { type Document, type Item, type Link, rel, rels } from './document.ts'
import { emptyValues } from './empty-values.ts'
import { createLinkChecks } from './link-checks.ts'
import { essence, type FollowedLink, feedKind } from './link-kind.ts'

/** Reports a problem of the document at `url`, which was reached by a link in `from`. */
export type ReportProblem = (url: string, from: string | null, problem: string) => void

export function createRules(report: ReportProblem) {
  const pagingChecks = createPagingChecks(report)
  const linkChecks = createLinkChecks(report)
  return {
    visit({ url, from }: FollowedLink, document: Document) {
      const complain = (problem: string) => report(url, from, problem)
      for (const path of emptyValues(document.json)) complain(`${path} is empty`)
      for (const item of document.items) if (item.isBook) checkBook(item, document, complain)
      if (document.shape === 'entry') checkBook(entryOf(document), document, complain)
      if (document.shape !== 'feed') return
      checkFeed(document, complain)
      checkFacets(document, complain)
      linkChecks.visit(url, document)
      pagingChecks.visit(url, document)
    },
    /** `isComplete`: every link was followed. */
    end(isComplete: boolean) {
      linkChecks.end()
      if (isComplete) pagingChecks.end()
    },
  }
}

type Complain = (problem: string) => void

const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/

function checkFeed(document: Document, complain: Complain) {
  const { version, items, links, updated, id } = document
  for (const name of ['self', 'start', 'search'])
    if (!rel(document, name)) complain(`has no link ${name}`)
  if (id === '') complain('has no id')
  const books = items.filter(item => item.isBook)
  const isHome = document.json?.groups !== undefined
  if (books.length > 0 && books.length < items.length && !isHome)
    complain('contains books and other entries')
  const ids = new Set(items.map(item => item.id))
  if (ids.size < items.length && !isHome) complain('contains an id twice')
  if (!time.test(updated ?? '')) complain(`was updated at ${updated}`)
  const dates = items.flatMap(item => item.updated ?? []).map(Date.parse)
  const latest = Math.max(...dates)
  if (dates.length === items.length && dates.length > 0 && latest !== Date.parse(updated ?? ''))
    complain(`was updated at ${updated}, its newest item at ${new Date(latest).toISOString()}`)
  if (version === 2) return
  const self = feedKind(rel(document, 'self')?.type ?? '')
  const kind = books.length > 0 ? 'acquisition' : 'navigation'
  if (items.length > 0 && self !== kind)
    complain(`has kind ${self} in its self link and is ${kind}`)
  for (const link of links)
    if (link.rels[0] === 'next' || link.rels[0] === 'previous')
      if (feedKind(link.type) !== self) complain(`${link.rels[0]} has another kind`)
  for (const item of items) if (!item.isBook) checkNavigation(item, complain)
}

/** An entry of a navigation feed. */
function checkNavigation({ id, title, updated, links }: Item, complain: Complain) {
  if (!isId.test(id)) complain(`${title}: its id is ${id}`)
  if (!time.test(updated ?? '')) complain(`${title} was updated at ${updated}`)
  const feeds = links.filter(link => essence(link.type) === 'application/atom+xml')
  if (feeds.length !== 1) complain(`${title} links to ${feeds.length} feeds`)
}

const isId =
  /^urn:(?:uuid:[\da-f]{8}-[\da-f]{4}-[1-8][\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}|isbn:[\dX]{10,13})$/

function checkBook({ id, title, updated, links }: Item, document: Document, complain: Complain) {
  const identifier = document.version === 1 ? id : identifierOf(document, id)
  if (!isId.test(identifier)) complain(`${title}: its id is ${identifier}`)
  if (title === '') complain(`${id} has no title`)
  if (!time.test(updated ?? '')) complain(`${title} was updated at ${updated}`)
  const files = links.filter(link => link.rels.includes(rels.acquisition))
  if (files.length !== 1) complain(`${title} has ${files.length} acquisition links`)
  if (files.some(link => link.type === '')) complain(`${title} has a file without a type`)
  if (links.some(link => link.rels.some(name => /open-access|download/.test(name))))
    complain(`${title} has an open-access link`)
}

function identifierOf({ json }: Document, self: string): string {
  const lists = [json, ...(json.groups ?? [])].flatMap(part => part.publications ?? [])
  const publication = [json, ...lists].find((book: any) =>
    book.links?.some((link: any) => link.rel === 'self' && link.href === self),
  )
  return publication?.metadata?.identifier ?? ''
}

function checkFacets({ links, version }: Document, complain: Complain) {
  const groups = Map.groupBy(
    links.filter(link => link.group !== null),
    link => link.group!,
  )
  const groupOf = new Map<string, string>()
  for (const [group, facets] of groups) {
    const active = facets.filter(facet => facet.isActive)
    if (active.length !== 1) complain(`${group}: ${active.length} facets are active`)
    if (facets.length < 2) complain(`${group} has a single facet`)
    for (const facet of facets) {
      if (facet.count === null) complain(`${group}: ${facet.title} has no count`)
      if (version === 1 && feedKind(facet.type) !== 'acquisition')
        complain(`${group} is not an acquisition feed`)
      const before = groupOf.get(facet.title)
      if (before !== undefined && before !== group && !isAll.test(facet.title))
        complain(`${facet.title} is a facet of ${before} and of ${group}`)
      groupOf.set(facet.title, group)
    }
  }
}

const isAll = /^all\b/i

/** The entry document of a single book as an item. */
function entryOf({ id, title, updated, links }: Document): Item {
  return { id, title, updated, links: links as Link[], isBook: true }
}
