// A document of a crawl before the schemas and before the parsers of two reading apps, which have to
// find the titles, counts and links in it that it was read to hold.
import { isDeepStrictEqual } from 'node:util'
import type { Visit } from './crawl.ts'
import { type Document, type Item, rels } from './document.ts'
import { palaceEntry, palaceFeed, thoriumEntry, thoriumFeed } from './parsers.ts'
import { relaxErrors } from './relax-ng.ts'
import { schemaErrors } from './schemas.ts'
import { parsedFeed, parsedPublication, parsedSignIn } from './thorium-json.ts'

/** What is wrong with it, a sentence each. */
export async function strictly({ document, body, url }: Visit): Promise<string[]> {
  if (document === null) return []
  const errors = schemaProblems(document, body)
  return [...errors, ...(await apps(document, body))].map(problem => `${url}: ${problem}`)
}

function schemaProblems(document: Document, body: Buffer): string[] {
  const { version, shape, json } = document
  if (version === 1) return shape === 'search' ? [] : relaxErrors(body.toString())
  if (shape === 'feed') return schemaErrors('feed', json)
  if (shape === 'entry') return schemaErrors('publication', json)
  if (shape === 'manifest') return schemaErrors('manifest', json)
  return json.authentication ? schemaErrors('authentication', json) : []
}

async function apps(document: Document, body: Buffer): Promise<string[]> {
  const { version, shape, json } = document
  const text = body.toString()
  if (version === 1 && shape === 'feed')
    return [...thoriumReads(document, text), ...(await palaceReads(document, text))]
  if (version === 1 && shape === 'entry') {
    const palace = await palaceEntry(text)
    return [
      ...same('title (Thorium)', thoriumEntry(text).Metadata.Title, document.title),
      ...same('entry (Palace)', [palace.id, palace.title], [document.id, document.title]),
    ]
  }
  if (version === 2 && shape === 'feed') return thoriumReadsJson(document)
  if (version === 2 && shape === 'entry')
    return same('title (Thorium)', parsedPublication(json).Metadata.Title, document.title)
  if (json?.authentication) {
    const types = parsedSignIn(json).Authentication.map(way => way.Type)
    return same('ways to sign in', types, ['http://opds-spec.org/auth/basic'])
  }
  return []
}

function thoriumReads(document: Document, text: string): string[] {
  const feed = thoriumFeed(text)
  const { books, ways } = sorted(document)
  return [
    ...same('title', feed.Metadata.Title, document.title),
    ...same('books', titlesOf(feed.Publications), titles(books)),
    ...same('entries', (feed.Navigation ?? []).map(linkTitle), titles(ways)),
    ...same('links of books', hrefsOf(feed.Publications), books.map(hrefs)),
    ...same('links', (feed.Links ?? []).map(href), own(document)),
    ...same('facets', (feed.Facets ?? []).map(facetOf), facets(document)),
    // Nothing found is no number to it.
    ...same('total', feed.Metadata.NumberOfItems ?? 0, document.paging?.total ?? 0),
  ]
}

async function palaceReads(document: Document, text: string): Promise<string[]> {
  const feed = await palaceFeed(text)
  const { books } = sorted(document)
  const kind = books.length > 0 ? 'AcquisitionFeed' : 'NavigationFeed'
  const isKnown = document.items.length > 0
  return [
    ...same('kind (Palace)', isKnown ? feed.constructor.name : kind, kind),
    ...same(
      'titles (Palace)',
      feed.entries.map(entry => entry.title),
      titles(document.items),
    ),
    ...same(
      'ids (Palace)',
      feed.entries.map(entry => entry.id),
      document.items.map(i => i.id),
    ),
    ...same(
      'links (Palace)',
      feed.entries.map(entry => entry.links.map(link => link.href).sort()),
      document.items.map(hrefs),
    ),
    ...same('total (Palace)', feed.search?.totalResults || 0, document.paging?.total ?? 0),
  ]
}

function thoriumReadsJson(document: Document): string[] {
  const feed = parsedFeed(document.json)
  const { books, ways } = sorted(document)
  const groups = feed.Groups ?? []
  const publications = [feed, ...groups].flatMap(part => part.Publications ?? [])
  const navigation = [feed, ...groups].flatMap(part => part.Navigation ?? [])
  return [
    ...same('title', feed.Metadata.Title, document.title),
    ...same('books', titlesOf(publications), titles(books)),
    ...same('entries', navigation.map(linkTitle), titles(ways)),
    ...same('facets', (feed.Facets ?? []).map(facetOf), facets(document)),
    ...same('total', feed.Metadata.NumberOfItems ?? 0, document.paging?.total ?? 0),
  ]
}

type Titled = { Metadata: { Title: string } }
type Linked = { Links: { Href: string }[]; Images?: { Href: string }[] }

const sorted = ({ items }: Document) => ({
  books: items.filter(item => item.isBook),
  ways: items.filter(item => !item.isBook),
})
const titles = (items: Item[]) => items.map(item => item.title)
const titlesOf = (books: Titled[] = []) => books.map(book => book.Metadata.Title)
const linkTitle = ({ Title }: { Title?: string }) => Title
const href = ({ Href }: { Href: string }) => Href
const hrefs = ({ links }: Item) => links.map(link => link.href).sort()
const hrefsOf = (books: Linked[] = []) =>
  books.map(book => [...book.Links, ...(book.Images ?? [])].map(href).sort())
const own = ({ links }: Document) =>
  links.filter(link => link.group === null).map(link => link.href)
const facetOf = ({ Metadata, Links }: Titled & Linked) => [Metadata.Title, Links.map(href)]
const facets = ({ links }: Document) =>
  [
    ...Map.groupBy(
      links.filter(link => link.rels.includes(rels.facet)),
      link => link.group,
    ),
  ].map(([group, found]) => [group, found.map(link => link.href)])

/** Not only equal but also found at all: an app that drops what it cannot read finds less. */
function same(what: string, found: unknown, wanted: unknown): string[] {
  if (isDeepStrictEqual(found, wanted)) return []
  return [`${what}: ${JSON.stringify(found)} where ${JSON.stringify(wanted)} is`.slice(0, 2000)]
}
