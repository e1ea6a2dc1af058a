// Validation of crawled OPDS documents: by the schemas, and by comparing what the parsers of two reading
// apps return with what the document contains.
import { isDeepStrictEqual } from 'node:util'
import type { Visit } from './crawl.ts'
import { type Document, type Item, rels } from './document.ts'
import { palaceEntry, palaceFeed, thoriumEntry, thoriumFeed } from './parsers.ts'
import { relaxErrors } from './relax-ng.ts'
import { schemaErrors } from './schemas.ts'
import { parsedAuthentication, parsedFeed, parsedPublication } from './thorium-json.ts'

/** Everything that is wrong with the document, one line each. */
export async function validationErrors({ document, body, url }: Visit): Promise<string[]> {
  if (document === null) return []
  const errors = [...schemaProblems(document, body), ...(await parserProblems(document, body))]
  return errors.map(problem => `${url}: ${problem}`)
}

function schemaProblems(document: Document, body: Buffer): string[] {
  const { version, shape, json } = document
  if (version === 1) return shape === 'search' ? [] : relaxErrors(body.toString())
  if (shape === 'feed') return schemaErrors('feed', json)
  if (shape === 'entry') return schemaErrors('publication', json)
  if (shape === 'manifest') return schemaErrors('manifest', json)
  return json.authentication ? schemaErrors('authentication', json) : []
}

async function parserProblems(document: Document, body: Buffer): Promise<string[]> {
  const { version, shape, json } = document
  const text = body.toString()
  if (version === 1 && shape === 'feed')
    return [...compareThorium(document, text), ...(await comparePalace(document, text))]
  if (version === 1 && shape === 'entry') {
    const palace = await palaceEntry(text)
    return [
      ...differences('title (Thorium)', thoriumEntry(text).Metadata.Title, document.title),
      ...differences('entry (Palace)', [palace.id, palace.title], [document.id, document.title]),
    ]
  }
  if (version === 2 && shape === 'feed') return compareThoriumJson(document)
  if (version === 2 && shape === 'entry')
    return differences('title (Thorium)', parsedPublication(json).Metadata.Title, document.title)
  if (json?.authentication) {
    const types = parsedAuthentication(json).Authentication.map(({ Type }) => Type)
    return differences('authentication types', types, ['http://opds-spec.org/auth/basic'])
  }
  return []
}

function compareThorium(document: Document, text: string): string[] {
  const feed = thoriumFeed(text)
  const { books, entries } = byKind(document)
  return [
    ...differences('title', feed.Metadata.Title, document.title),
    ...differences('books', titlesOf(feed.Publications), titles(books)),
    ...differences('entries', (feed.Navigation ?? []).map(linkTitle), titles(entries)),
    ...differences('links of books', hrefsOf(feed.Publications), books.map(hrefs)),
    ...differences('links', (feed.Links ?? []).map(href), linksWithoutFacets(document)),
    ...differences('facets', (feed.Facets ?? []).map(facetOf), facets(document)),
    // Thorium leaves out a total of 0.
    ...differences('total', feed.Metadata.NumberOfItems ?? 0, document.paging?.total ?? 0),
  ]
}

async function comparePalace(document: Document, text: string): Promise<string[]> {
  const feed = await palaceFeed(text)
  const { books } = byKind(document)
  const kind = books.length > 0 ? 'AcquisitionFeed' : 'NavigationFeed'
  const hasItems = document.items.length > 0
  return [
    ...differences('kind (Palace)', hasItems ? feed.constructor.name : kind, kind),
    ...differences(
      'titles (Palace)',
      feed.entries.map(entry => entry.title),
      titles(document.items),
    ),
    ...differences(
      'ids (Palace)',
      feed.entries.map(entry => entry.id),
      document.items.map(i => i.id),
    ),
    ...differences(
      'links (Palace)',
      feed.entries.map(entry => entry.links.map(link => link.href).sort()),
      document.items.map(hrefs),
    ),
    ...differences('total (Palace)', feed.search?.totalResults || 0, document.paging?.total ?? 0),
  ]
}

function compareThoriumJson(document: Document): string[] {
  const feed = parsedFeed(document.json)
  const { books, entries } = byKind(document)
  const groups = feed.Groups ?? []
  const publications = [feed, ...groups].flatMap(part => part.Publications ?? [])
  const navigation = [feed, ...groups].flatMap(part => part.Navigation ?? [])
  return [
    ...differences('title', feed.Metadata.Title, document.title),
    ...differences('books', titlesOf(publications), titles(books)),
    ...differences('entries', navigation.map(linkTitle), titles(entries)),
    ...differences('facets', (feed.Facets ?? []).map(facetOf), facets(document)),
    ...differences('total', feed.Metadata.NumberOfItems ?? 0, document.paging?.total ?? 0),
  ]
}

type Titled = { Metadata: { Title: string } }
type Linked = { Links: { Href: string }[]; Images?: { Href: string }[] }

const byKind = ({ items }: Document) => ({
  books: items.filter(item => item.isBook),
  entries: items.filter(item => !item.isBook),
})
const titles = (items: Item[]) => items.map(item => item.title)
const titlesOf = (books: Titled[] = []) => books.map(book => book.Metadata.Title)
const linkTitle = ({ Title }: { Title?: string }) => Title
const href = ({ Href }: { Href: string }) => Href
const hrefs = ({ links }: Item) => links.map(link => link.href).sort()
const hrefsOf = (books: Linked[] = []) =>
  books.map(book => [...book.Links, ...(book.Images ?? [])].map(href).sort())
const linksWithoutFacets = ({ links }: Document) =>
  links.filter(link => link.group === null).map(link => link.href)
const facetOf = ({ Metadata, Links }: Titled & Linked) => [Metadata.Title, Links.map(href)]
const facets = ({ links }: Document) =>
  [
    ...Map.groupBy(
      links.filter(link => link.rels.includes(rels.facet)),
      link => link.group,
    ),
  ].map(([group, members]) => [group, members.map(link => link.href)])

/** Compares completely: an app silently drops what it cannot parse. */
function differences(what: string, actual: unknown, expected: unknown): string[] {
  if (isDeepStrictEqual(actual, expected)) return []
  return [
    `${what}: ${JSON.stringify(actual)} instead of ${JSON.stringify(expected)}`.slice(0, 2000),
  ]
}
