// Releases of a feed: from the body of a response to its items, which of them count, which part of a title is used,
// media URLs and ids.
import { createHash } from 'node:crypto'
import { canonicalLanguage } from '../../media/metadata/language.ts'
import { singleLine } from '../../media/metadata/text.ts'
import { parseReleaseTitle, releaseExtensions } from '../../media/name/release-title.ts'
import { matchPattern, type Pattern, tryPattern } from '../../media/strategy/pattern.ts'
import { maxReleases, type mediaUrlKinds, type ReleaseItem } from '../contract.ts'
import { SourceFailure } from '../failure.ts'
import { releaseDate } from '../release-date.ts'
import type { FeedConfig } from './config.ts'
import { type FeedItem, type ParsedFeed, readFeed } from './items.ts'

type MediaUrlKind = (typeof mediaUrlKinds)[number]

export type FeedReleases = { items: ReleaseItem[]; summary: string }

/** Never throws: unusable items are counted in the summary. */
export function releasesOf(feed: ParsedFeed, config: FeedConfig): FeedReleases {
  const rules = compileRules(config)
  const releases = new Map<string, ReleaseItem>()
  const unusable = { excluded: 0, incomplete: 0, beyond: 0 }
  for (const item of feed.items) {
    const release = toRelease(item, feed, { config, rules })
    if (typeof release === 'string') unusable[release]++
    else if (releases.size >= maxReleases) unusable.beyond++
    else if (!releases.has(release.externalReleaseId))
      releases.set(release.externalReleaseId, release)
  }
  const { excluded, incomplete, beyond } = unusable
  const notes = [
    `${feed.items.length} items`,
    excluded > 0 && `${excluded} excluded by the rules`,
    incomplete > 0 && `${incomplete} without a title or URL`,
    beyond > 0 && `${beyond} beyond the first ${maxReleases}`,
  ]
  return { items: [...releases.values()], summary: notes.filter(Boolean).join(', ') }
}

type Rules = { title: Pattern | null; include: Pattern[]; exclude: Pattern[] }

function compileRules({ titlePattern, include = [], exclude = [] }: FeedConfig): Rules {
  const compile = (sources: string[]) => sources.map(tryPattern).filter(pattern => pattern !== null)
  return {
    title: titlePattern === undefined ? null : tryPattern(titlePattern),
    include: compile(include),
    exclude: compile(exclude),
  }
}

type Options = { config: FeedConfig; rules: Rules }

function toRelease(item: FeedItem, feed: ParsedFeed, { config, rules }: Options) {
  const title = singleLine(item.title ?? undefined)
  if (title === undefined) return 'incomplete'
  const part = select(title, rules)
  if (part === null) return 'excluded'
  const media = mediaOf(item)
  const payloadUrl = pageOf(item) ?? webUrl(media?.url) ?? webUrl(feed.link)
  if (payloadUrl === null) return 'incomplete'
  const infoHash = normalizeHash(item.infoHash) ?? hashOfMagnet(media?.url)
  const parsed = parseReleaseTitle(part.title)
  const languages = [parsed.language, item.language, config.language, feed.language]
  const language = languages.flatMap(tag => (tag ? (canonicalLanguage(tag) ?? []) : [])).at(0)
  const group = config.group ?? part.group ?? parsed.group ?? singleLine(item.author ?? undefined)
  return {
    externalReleaseId: idOf({ item, title, infoHash }),
    title,
    payloadUrl,
    mediaUrl: media?.url ?? null,
    mediaUrlKind: media?.kind ?? null,
    infoHash,
    groupOrUploader: group?.slice(0, 300) ?? null,
    language: language ?? null,
    chapters: parsed.chapters,
    volumes: parsed.volumes,
    formatHints: parsed.hints,
    metadata: {
      ...(item.categories.length > 0 ? { categories: item.categories } : {}),
      ...(media?.bytes ? { bytes: media.bytes } : {}),
      ...(parsed.year === null ? {} : { year: parsed.year }),
    },
    seriesTitles: config.seriesTitle === undefined ? parsed.titles : [config.seriesTitle],
    seriesIds: {},
    releasedAt: releaseDate(item.date ?? ''),
  } satisfies ReleaseItem
}

/** The part of the title to use; null for items that the rules exclude. */
function select(title: string, { title: pattern, include, exclude }: Rules) {
  const matches = (patterns: Pattern[]) =>
    patterns.some(pattern => matchPattern(pattern, title) !== null)
  if ((include.length > 0 && !matches(include)) || matches(exclude)) return null
  if (pattern === null) return { title, group: null }
  const match = matchPattern(pattern, title)
  if (match === null) return null
  const part = match.named.title ?? match.all[1] ?? match.all[0] ?? ''
  return part.trim() === '' ? null : { title: part, group: match.named.group || null }
}

const torrentType = /^application\/x-bittorrent\b/i
const bookType = /^application\/(?:(?:x-)?zip|epub\+zip|pdf|vnd\.comicbook|x-cb[zrt7]|x-rar)/i
const bookFile = new RegExp(`\\.(?:${releaseExtensions})(?:[?#]|$)`, 'i')

function mediaOf({ files, link, id }: FeedItem) {
  const linked = [link, id].map(url => ({ url: url ?? '', type: null, bytes: null }))
  const candidates = [...files, ...linked].flatMap(({ url, type, bytes }) => {
    const kind = kindOf(url, type)
    return kind === null || url.length > 4000 ? [] : [{ url, kind, bytes }]
  })
  const order: MediaUrlKind[] = ['torrent', 'magnet', 'direct']
  return order.flatMap(kind => candidates.find(media => media.kind === kind) ?? []).at(0) ?? null
}

/** Null for pages, images and audio. */
function kindOf(url: string, type: string | null): MediaUrlKind | null {
  if (/^magnet:\?/i.test(url)) return 'magnet'
  if (webUrl(url) === null) return null
  if (torrentType.test(type ?? '') || /\.torrent(?:[?#]|$)/i.test(url)) return 'torrent'
  return bookType.test(type ?? '') || bookFile.test(url) ? 'direct' : null
}

/** A web page rather than the file itself. */
function pageOf({ link, id }: FeedItem): string | null {
  const pages = [link, id].flatMap(url => webUrl(url) ?? [])
  return pages.find(url => kindOf(url, null) === null) ?? pages[0] ?? null
}

function webUrl(text: string | null | undefined): string | null {
  if (!text || text.length > 4000 || !/^https?:\/\//i.test(text)) return null
  return URL.parse(text)?.href ?? null
}

// Base 32 of RFC 4648.
const base32 = 'abcdefghijklmnopqrstuvwxyz234567'

/** A SHA-1 in hex or base 32, as hex in lower case. */
function normalizeHash(text: string | null): string | null {
  const hash = text?.trim().toLowerCase() ?? ''
  if (/^[0-9a-f]{40}$/.test(hash)) return hash
  if (!/^[a-z2-7]{32}$/.test(hash)) return null
  const bits = [...hash].reduce((sum, letter) => sum * 32n + BigInt(base32.indexOf(letter)), 0n)
  return bits.toString(16).padStart(40, '0')
}

const hashOfMagnet = (url: string | undefined) =>
  normalizeHash(/[?&]xt=urn:btih:(\w{32,40})(?:&|$)/i.exec(url ?? '')?.[1] ?? null)

/** The id in its feed, its link, its info hash, or a digest of its content. */
function idOf({
  item: { id, link, date },
  title,
  infoHash,
}: {
  item: FeedItem
  title: string
  infoHash: string | null
}): string {
  const own = id?.trim() || link?.trim() || (infoHash && `urn:btih:${infoHash}`)
  if (own && own.length <= 1000) return own
  return `sha256:${createHash('sha256')
    .update(own || `${title}\n${date ?? ''}`)
    .digest('hex')}`
}

export type FeedInput = { body: Uint8Array; charset: string | null; config: FeedConfig }
/** `failure` is the message of a SourceFailure `invalid`, because errors lose their class between threads. */
export type FeedOutput = { title: string | null; releases: FeedReleases } | { failure: string }

export function readReleases({ body, charset, config }: FeedInput): FeedOutput {
  try {
    const feed = readFeed(body, charset)
    return { title: feed.title, releases: releasesOf(feed, config) }
  } catch (error) {
    if (error instanceof SourceFailure) return { failure: error.message }
    throw error
  }
}
