// The assertions of spec/opds.md §9 that no schema holds, over all documents of a crawl.

import { openChains } from './chains.ts'
import { type Document, type Item, type Link, rel, rels } from './document.ts'
import { blanks } from './empty-values.ts'
import { openPromises } from './link-checks.ts'
import { type Errand, essence, kindOf } from './link-kind.ts'

/** Says of the document at `url`, found by a link in `from`, what is wrong with it. */
export type Say = (url: string, from: string | null, problem: string) => void

export function openRules(say: Say) {
  const chains = openChains(say)
  const promises = openPromises(say)
  return {
    visit(errand: Errand, document: Document) {
      const { url, from } = errand
      const complain = (problem: string) => say(url, from, problem)
      for (const blank of blanks(document.json)) complain(`${blank} is empty`)
      for (const item of document.items) if (item.isBook) checkBook(item, document, complain)
      if (document.shape === 'entry') checkBook(entryOf(document), document, complain)
      if (document.shape !== 'feed') return
      checkFeed(document, complain)
      checkFacets(document, complain)
      promises.visit(url, document)
      chains.visit(url, document)
    },
    /** `isWhole`: nothing was left out. */
    end(isWhole: boolean) {
      promises.end()
      if (isWhole) chains.end()
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
    complain('holds books and other entries')
  const ids = new Set(items.map(item => item.id))
  if (ids.size < items.length && !isHome) complain('holds an id twice')
  if (!time.test(updated ?? '')) complain(`was updated at ${updated}`)
  const dates = items.flatMap(item => item.updated ?? []).map(Date.parse)
  const latest = Math.max(...dates)
  if (dates.length === items.length && dates.length > 0 && latest !== Date.parse(updated ?? ''))
    complain(`was updated at ${updated}, its newest item at ${new Date(latest).toISOString()}`)
  if (version === 2) return
  const self = kindOf(rel(document, 'self')?.type ?? '')
  const kind = books.length > 0 ? 'acquisition' : 'navigation'
  if (items.length > 0 && self !== kind) complain(`calls itself ${self} and is ${kind}`)
  for (const link of links)
    if (link.rels[0] === 'next' || link.rels[0] === 'previous')
      if (kindOf(link.type) !== self) complain(`${link.rels[0]} is of another kind`)
  for (const item of items) if (!item.isBook) checkWay(item, complain)
}

/** An entry of a navigation feed. */
function checkWay({ id, title, updated, links }: Item, complain: Complain) {
  if (!isId.test(id)) complain(`${title}: its id is ${id}`)
  if (!time.test(updated ?? '')) complain(`${title} was updated at ${updated}`)
  const ways = links.filter(link => essence(link.type) === 'application/atom+xml')
  if (ways.length !== 1) complain(`${title} leads to ${ways.length} feeds`)
}

const isId =
  /^urn:(?:uuid:[\da-f]{8}-[\da-f]{4}-[1-8][\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}|isbn:[\dX]{10,13})$/

function checkBook({ id, title, updated, links }: Item, document: Document, complain: Complain) {
  const said = document.version === 1 ? id : identifierOf(document, id)
  if (!isId.test(said)) complain(`${title}: its id is ${said}`)
  if (title === '') complain(`${id} has no title`)
  if (!time.test(updated ?? '')) complain(`${title} was updated at ${updated}`)
  const files = links.filter(link => link.rels.includes(rels.acquisition))
  if (files.length !== 1) complain(`${title} has ${files.length} acquisition links`)
  if (files.some(link => link.type === '')) complain(`${title} has a file without a type`)
  if (links.some(link => link.rels.some(name => /open-access|download/.test(name))))
    complain(`${title} promises a file to everyone`)
}

function identifierOf({ json }: Document, self: string): string {
  const lists = [json, ...(json.groups ?? [])].flatMap(part => part.publications ?? [])
  const found = [json, ...lists].find((book: any) =>
    book.links?.some((link: any) => link.rel === 'self' && link.href === self),
  )
  return found?.metadata?.identifier ?? ''
}

function checkFacets({ links, version }: Document, complain: Complain) {
  const groups = Map.groupBy(
    links.filter(link => link.group !== null),
    link => link.group!,
  )
  const places = new Map<string, string>()
  for (const [group, facets] of groups) {
    const active = facets.filter(facet => facet.isActive)
    if (active.length !== 1) complain(`${group}: ${active.length} facets are active`)
    if (facets.length < 2) complain(`${group} is a facet alone`)
    for (const facet of facets) {
      if (facet.count === null) complain(`${group}: ${facet.title} does not say how many`)
      if (version === 1 && kindOf(facet.type) !== 'acquisition') complain(`${group} is no facet`)
      const before = places.get(facet.title)
      if (before !== undefined && before !== group && !isAll.test(facet.title))
        complain(`${facet.title} is a facet of ${before} and of ${group}`)
      places.set(facet.title, group)
    }
  }
}

const isAll = /^all\b/i

/** The item that a document of one book is. */
function entryOf({ id, title, updated, links }: Document): Item {
  return { id, title, updated, links: links as Link[], isBook: true }
}
