// Crawler of both OPDS catalogs: follows every link as reading apps do and checks documents, files
// and images on the way. It keeps URLs and counts, no documents.
import type { Document } from './document.ts'
import { checkEntryPoint, urlPattern } from './entry-points.ts'
import { follow, type HttpResponse, type SendRequest } from './follow.ts'
import { type FollowedLink, followedLinks, type LinkKind } from './link-kind.ts'
import { createRules } from './rules.ts'

/** A response to a request with credentials; `document` if it could be parsed. */
export type Visit = HttpResponse & { url: string; link: FollowedLink; document: Document | null }

export type CrawlOptions = {
  /** Origin of the server, without a trailing slash. */
  base: string
  /** Credentials. */
  headers: Record<string, string>
  /** Paths at which the crawl starts. */
  roots?: string[]
  /** Called with every response to a request with credentials. */
  visit?: (visit: Visit) => unknown
  maxLinks?: number
  /** All links are followed by default. */
  shouldFollow?: (link: FollowedLink) => boolean
  /** Maximum number of facets selected on the way to a feed. */
  maxFacets?: number
  searchTerms?: string[]
  /** How many URLs of one pattern are also requested by HEAD and without credentials. */
  checksPerPattern?: number
}

export type CrawlResult = {
  /** Number of links followed. */
  links: Record<LinkKind, number>
  requests: number
  /** `URL: what is wrong (from URL)`. */
  problems: string[]
}

const concurrency = 4
/** Further problems are only counted. */
const maxProblems = 1000

export async function crawl(options: CrawlOptions): Promise<CrawlResult> {
  const { base, headers, maxLinks = Number.POSITIVE_INFINITY, checksPerPattern = 2 } = options
  const { roots = ['/opds/v1/catalog', '/opds/v2'], searchTerms = ['a'], maxFacets = 1 } = options
  const links = { document: 0, image: 0, file: 0, stream: 0, resource: 0 }
  const problems = createProblemList()
  const seen = new Set<string>()
  const checked = new Map<string, number>()
  const rules = createRules(problems.report)
  const http = createSender()
  const sendAnonymously = http.send({})

  const visitLink = async (link: FollowedLink): Promise<FollowedLink[]> => {
    const { url, from, kind } = link
    links[kind] += 1
    const report = (problem: string) => problems.report(url, from, problem)
    if (!url.startsWith(`${base}/`)) {
      report('is not a URL of this server')
      return []
    }
    const responses: [string, HttpResponse][] = []
    const record = (requested: string, response: HttpResponse) =>
      responses.push([requested, response])
    const document = await follow(link, http.send(headers, record), report)
    for (const [requested, response] of responses)
      await options.visit?.({
        ...response,
        url: requested,
        link,
        document: requested === url ? document : null,
      })
    const pattern = urlPattern(`${kind} ${url}`)
    const count = checked.get(pattern) ?? 0
    if (count < checksPerPattern && kind !== 'stream') {
      checked.set(pattern, count + 1)
      await checkEntryPoint(url, { send: http.send(headers), sendAnonymously, report })
    }
    if (!document) return []
    rules.visit(link, document)
    return followedLinks(document, link, searchTerms)
  }

  let frontier = roots.map(path => rootLink(base, path))
  let followed = 0
  while (frontier.length > 0) {
    const wave = frontier.filter(link => {
      const isWanted = link.from === null || (options.shouldFollow?.(link) ?? true)
      if (seen.has(link.url) || !isWanted || link.facets > maxFacets || followed >= maxLinks)
        return false
      seen.add(link.url)
      followed += 1
      return true
    })
    frontier = []
    const remaining = wave.values()
    const walk = async () => {
      for (const link of remaining)
        frontier.push(...(await visitLink(link)).filter(next => !seen.has(next.url)))
    }
    await Promise.all(Array.from({ length: concurrency }, walk))
  }
  rules.end(followed < maxLinks)
  return { links, requests: http.count(), problems: problems.list() }
}

const rootLink = (base: string, path: string): FollowedLink => ({
  kind: 'document',
  url: base + path,
  from: null,
  link: null,
  version: path.includes('/v2') ? 2 : 1,
  facets: 0,
})

function createProblemList() {
  const problems: string[] = []
  let total = 0
  return {
    report(url: string, from: string | null, problem: string) {
      total += 1
      if (total > maxProblems) return
      problems.push(`${url}: ${problem}${from === null ? '' : ` (from ${from})`}`)
    },
    list: () =>
      total > maxProblems ? [...problems, `… and ${total - maxProblems} more`] : problems,
  }
}

function createSender() {
  let requests = 0
  return {
    count: () => requests,
    /** A function that sends these headers with every request and passes on the responses. */
    send:
      (
        common: Record<string, string>,
        record: (url: string, response: HttpResponse) => void = () => {},
      ): SendRequest =>
      async (url, { method = 'GET', headers = {} } = {}) => {
        requests += 1
        const all = { 'accept-encoding': 'identity', ...common, ...headers }
        const response = await fetch(url, { method, headers: all, redirect: 'manual' })
        const body = Buffer.from(await response.arrayBuffer())
        const received = { status: response.status, headers: response.headers, body }
        record(url, received)
        return received
      },
  }
}
