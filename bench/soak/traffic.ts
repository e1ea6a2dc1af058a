// Mixed use of a server by reading apps: feeds, lists, pages in several sizes, covers.
import { Agent, request } from 'node:http'
import type { Random } from '../../test/kit/random.ts'

export type SoakBook = { id: string; seriesId: string; pageCount: number }
type Traffic = {
  base: string
  key: string
  random: Random
  connections: number
  books: readonly SoakBook[]
}
/** Numbers of answers by status. */
export type Statuses = Record<string, number>

const feeds = [
  ...['/opds/v1/catalog', '/opds/v2', '/opds/v2/series', '/opds/v1/series', '/opds/v2/on-deck'],
  ...['/opds/v1/books/recent', '/opds/v2/genres', '/opds/v1/publishers', '/opds/v2/search?query=a'],
  ...['/komga/api/v1/series', '/komga/api/v1/books/latest', '/komga/api/v1/books/ondeck'],
  ...[
    '/komga/api/v1/books?unpaged=true',
    '/komga/api/v1/series?search=a',
    '/komga/api/v1/libraries',
  ],
]

/** Sends feeds and pages in random order, `connections` at a time. */
export async function sendTraffic(
  { base, key, random, connections, books }: Traffic,
  { feeds: feedCount, pages: pageCount }: { feeds: number; pages: number },
): Promise<Statuses> {
  const agent = new Agent({ keepAlive: true, maxSockets: connections })
  const statuses: Statuses = {}
  let left = { feeds: feedCount, pages: pageCount }
  const next = () => {
    const all = left.feeds + left.pages
    if (all === 0) return null
    const isFeed = random.below(all) < left.feeds
    left = isFeed ? { ...left, feeds: left.feeds - 1 } : { ...left, pages: left.pages - 1 }
    return isFeed ? feedPath(random, books) : pagePath(random, books)
  }
  const one = async () => {
    for (let path = next(); path !== null; path = next()) {
      const status = await get(base + path, key, agent)
      if (status !== 200 && !statuses[status]) process.stderr.write(`${status} ${path}\n`)
      statuses[status] = (statuses[status] ?? 0) + 1
    }
  }
  await Promise.all(Array.from({ length: connections }, one))
  agent.destroy()
  return statuses
}

function feedPath(random: Random, books: readonly SoakBook[]): string {
  const { id, seriesId } = random.pick(books)
  if (random.chance(0.1)) return `/komga/api/v1/series/${seriesId}/books`
  if (random.chance(0.1)) return `/komga/api/v1/books/${id}/pages`
  if (random.chance(0.3)) return `/opds/v${1 + random.below(2)}/series/${seriesId}`
  if (random.chance(0.2)) return `/api/v1/books?page=${1 + random.below(5)}`
  return random.pick(feeds)
}

function pagePath(random: Random, books: readonly SoakBook[]): string {
  const { id, pageCount } = random.pick(books)
  const page = 1 + random.below(pageCount)
  if (random.chance(0.05)) return `/api/v1/books/${id}/thumbnail`
  if (random.chance(0.2)) return `/komga/api/v1/books/${id}/pages/${page}`
  if (random.chance(0.02)) return `/komga/api/v1/books/${id}/thumbnail`
  const width = random.chance(0.1) ? `?width=${100 + 50 * random.below(8)}` : ''
  return `/api/v1/books/${id}/pages/${page}${width}`
}

/** The status; 0 for a broken connection. */
function get(url: string, key: string, agent: Agent): Promise<number> {
  return new Promise(resolve => {
    const outgoing = request(url, { agent, headers: { 'x-api-key': key } }, response => {
      response.on('error', () => resolve(0))
      response.on('end', () => resolve(response.statusCode ?? 0))
      response.resume()
    })
    outgoing.on('error', () => resolve(0))
    outgoing.end()
  })
}
