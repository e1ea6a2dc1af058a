// Items of RSS 1.0 and 2.0, Atom and JSON feeds in one shape. The parser resolves no entities of a doctype.
import { parseFeed } from 'feedsmith'
import { decodeText } from '../../media/metadata/decode.ts'
import { parseXml, type XmlElement } from '../../media/metadata/xml.ts'
import { SourceFailure } from '../failure.ts'

export type FeedItem = {
  id: string | null
  title: string | null
  /** A page about the item, or the file. */
  link: string | null
  date: string | null
  author: string | null
  language: string | null
  categories: string[]
  files: { url: string; type: string | null; bytes: number | null }[]
  /** As stated by an extension (`nyaa:infoHash`, Torznab attributes). */
  infoHash: string | null
}

export type ParsedFeed = {
  title: string | null
  link: string | null
  language: string | null
  items: FeedItem[]
}

type AnyFeed = ReturnType<typeof parseFeed<string>>

/** Throws SourceFailure `invalid` if it is not a feed. `charset` is the response's. */
export function readFeed(body: Uint8Array, charset: string | null): ParsedFeed {
  const declared = /^<\?xml[^>]{0,200}?encoding\s*=\s*["']([\w.:-]{1,40})["']/
  const head = Buffer.from(body.subarray(0, 300)).toString('latin1').trimStart()
  const { text } = decodeText(body, declared.exec(head)?.[1] ?? charset)
  const feed = parse(text)
  const hashes = /infohash/i.test(text) && feed.format !== 'json' ? readInfoHashes(body) : []
  const parsed = toFeed(feed)
  for (const [i, item] of parsed.items.entries()) item.infoHash = hashes[i] ?? null
  return parsed
}

function parse(text: string): AnyFeed {
  try {
    return parseFeed(text, { parseDateFn: date => date })
  } catch (cause) {
    throw new SourceFailure('The answer is not an RSS, Atom or JSON feed', 'invalid', { cause })
  }
}

function toFeed({ format, feed }: AnyFeed): ParsedFeed {
  if (format === 'json') return jsonFeed(feed)
  if (format === 'atom') return atomFeed(feed)
  if (format === 'rdf') return rdfFeed(feed)
  return rssFeed(feed)
}

type Of<F extends AnyFeed['format']> = Extract<AnyFeed, { format: F }>['feed']

function rssFeed({ title, link, language, items = [] }: Of<'rss'>): ParsedFeed {
  return feedOf({ title, link, language }, items, item => ({
    id: item.guid?.value,
    title: item.title,
    // If the guid is not a permalink, the link is the file and the guid the page.
    link: item.link ?? (item.guid?.isPermaLink === false ? null : item.guid?.value),
    date: item.pubDate ?? item.dc?.dates?.[0],
    author: item.dc?.creators?.[0] ?? item.authors?.[0]?.name,
    language: item.dc?.languages?.[0],
    categories: item.categories?.map(({ name }) => name),
    files: item.enclosures?.map(({ url, type, length }) => ({ url, type, bytes: length })),
  }))
}

function rdfFeed({ title, link, dc, items = [] }: Of<'rdf'>): ParsedFeed {
  return feedOf({ title, link, language: dc?.languages?.[0] }, items, item => ({
    id: item.rdf?.about,
    ...{ title: item.title, link: item.link, date: item.dc?.dates?.[0] },
    author: item.dc?.creators?.[0],
    language: item.dc?.languages?.[0],
    categories: item.dc?.subjects,
  }))
}

function atomFeed({ title, links, entries = [] }: Of<'atom'>): ParsedFeed {
  const page = (links: { href?: string; rel?: string }[] | undefined) =>
    links?.find(({ rel }) => rel === undefined || rel === 'alternate')?.href
  return feedOf({ title: title?.value, link: page(links) }, entries, entry => ({
    ...{ id: entry.id, title: entry.title?.value, link: page(entry.links) },
    date: entry.published ?? entry.updated,
    author: entry.authors?.[0]?.name,
    language: entry.dc?.languages?.[0],
    categories: entry.categories?.map(({ label, term }) => label ?? term),
    files: entry.links
      ?.filter(({ rel }) => rel === 'enclosure')
      .map(({ href, type, length }) => ({ url: href, type, bytes: length })),
  }))
}

function jsonFeed({ title, home_page_url, language, items = [] }: Of<'json'>): ParsedFeed {
  return feedOf({ title, link: home_page_url, language }, items, item => ({
    ...{ id: item.id, title: item.title, link: item.url ?? item.external_url },
    date: item.date_published ?? item.date_modified,
    author: item.authors?.[0]?.name,
    language: item.language,
    categories: item.tags,
    files: item.attachments?.map(({ url, mime_type, size_in_bytes }) => ({
      ...{ url, type: mime_type, bytes: size_in_bytes },
    })),
  }))
}

type Stated = {
  [K in 'id' | 'title' | 'link' | 'date' | 'author' | 'language']?: string | null | undefined
}
type StatedItem = Stated & {
  categories?: (string | undefined)[] | undefined
  files?:
    | { url?: string | undefined; type?: string | undefined; bytes?: number | undefined }[]
    | undefined
}

/** What a feed states, with null for what is missing. */
function feedOf<T>(
  { title = null, link = null, language = null }: Stated,
  items: readonly T[],
  itemOf: (item: T) => StatedItem,
): ParsedFeed {
  const toItem = ({ categories, files = [], ...stated }: StatedItem): FeedItem => ({
    ...{ id: stated.id ?? null, title: stated.title ?? null, link: stated.link ?? null },
    ...{ date: stated.date ?? null, author: stated.author ?? null },
    language: stated.language ?? null,
    categories: texts(categories),
    files: files.flatMap(({ url, type = null, bytes = null }) =>
      url ? [{ url, type, bytes }] : [],
    ),
    infoHash: null,
  })
  return { title, link, language, items: items.map(item => toItem(itemOf(item))) }
}

const texts = (values: (string | undefined)[] | undefined): string[] =>
  (values ?? []).filter(value => value !== undefined).slice(0, 50)

/** Info hashes by item index: `<nyaa:infoHash>`, `<torznab:attr name="infohash" value="…"/>`. */
function readInfoHashes(body: Uint8Array): (string | null)[] {
  const { root } = parseXml(body)
  const items: XmlElement[] = []
  const find = (element: XmlElement) => {
    for (const child of elementsOf(element)) {
      if (child.name === 'item' || child.name === 'entry') items.push(child)
      else find(child)
    }
  }
  if (root) find(root)
  return items.map(item => {
    for (const element of elementsOf(item)) {
      if (element.name === 'infohash') return element.children.join('').trim() || null
      if (element.name === 'attr' && element.attributes.get('name')?.toLowerCase() === 'infohash')
        return element.attributes.get('value') ?? null
    }
    return null
  })
}

const elementsOf = ({ children }: XmlElement) => children.filter(child => typeof child !== 'string')
