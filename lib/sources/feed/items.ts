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

function rssFeed(feed: Of<'rss'>): ParsedFeed {
  return {
    title: feed.title ?? null,
    link: feed.link ?? null,
    language: feed.language ?? null,
    items: (feed.items ?? []).map(item => ({
      id: item.guid?.value ?? null,
      title: item.title ?? null,
      // If the guid is not a permalink, the link is the file and the guid the page.
      link: item.link ?? (item.guid?.isPermaLink === false ? null : (item.guid?.value ?? null)),
      date: item.pubDate ?? item.dc?.dates?.[0] ?? null,
      author: item.dc?.creators?.[0] ?? item.authors?.[0]?.name ?? null,
      language: item.dc?.languages?.[0] ?? null,
      categories: texts(item.categories?.map(({ name }) => name)),
      files: (item.enclosures ?? []).flatMap(({ url, type, length }) =>
        url ? [{ url, type: type ?? null, bytes: length ?? null }] : [],
      ),
      infoHash: null,
    })),
  }
}

function rdfFeed(feed: Of<'rdf'>): ParsedFeed {
  return {
    title: feed.title ?? null,
    link: feed.link ?? null,
    language: feed.dc?.languages?.[0] ?? null,
    items: (feed.items ?? []).map(item => ({
      id: item.rdf?.about ?? null,
      title: item.title ?? null,
      link: item.link ?? null,
      date: item.dc?.dates?.[0] ?? null,
      author: item.dc?.creators?.[0] ?? null,
      language: item.dc?.languages?.[0] ?? null,
      categories: texts(item.dc?.subjects),
      files: [],
      infoHash: null,
    })),
  }
}

function atomFeed(feed: Of<'atom'>): ParsedFeed {
  const page = (links: { href?: string; rel?: string }[] | undefined) =>
    links?.find(({ rel }) => rel === undefined || rel === 'alternate')?.href ?? null
  return {
    title: feed.title?.value ?? null,
    link: page(feed.links),
    language: null,
    items: (feed.entries ?? []).map(entry => ({
      id: entry.id ?? null,
      title: entry.title?.value ?? null,
      link: page(entry.links),
      date: entry.published ?? entry.updated ?? null,
      author: entry.authors?.[0]?.name ?? null,
      language: entry.dc?.languages?.[0] ?? null,
      categories: texts(entry.categories?.map(({ label, term }) => label ?? term)),
      files: (entry.links ?? []).flatMap(({ rel, href, type, length }) =>
        rel === 'enclosure' && href
          ? [{ url: href, type: type ?? null, bytes: length ?? null }]
          : [],
      ),
      infoHash: null,
    })),
  }
}

function jsonFeed(feed: Of<'json'>): ParsedFeed {
  return {
    title: feed.title ?? null,
    link: feed.home_page_url ?? null,
    language: feed.language ?? null,
    items: (feed.items ?? []).map(item => ({
      id: item.id ?? null,
      title: item.title ?? null,
      link: item.url ?? item.external_url ?? null,
      date: item.date_published ?? item.date_modified ?? null,
      author: item.authors?.[0]?.name ?? null,
      language: item.language ?? null,
      categories: texts(item.tags),
      files: (item.attachments ?? []).flatMap(({ url, mime_type, size_in_bytes }) =>
        url ? [{ url, type: mime_type ?? null, bytes: size_in_bytes ?? null }] : [],
      ),
      infoHash: null,
    })),
  }
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
