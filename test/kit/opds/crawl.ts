// Walks every link of both catalogues as reading apps do, and holds what it finds against what OPDS,
// the feeds themselves and spec/opds.md §9 promise. It remembers addresses and counts, no documents.
import type { Document } from './document.ts'
import { knock, sortOf } from './entry-points.ts'
import { type Answer, type Ask, follow } from './follow.ts'
import { type Errand, errandsOf, type What } from './link-kind.ts'
import { openRules } from './rules.ts'

/** An answer that a crawl got; `document` where it could be read. */
export type Visit = Answer & { url: string; errand: Errand; document: Document | null }

export type Options = {
  /** Address of the server, without a slash at the end. */
  base: string
  /** Credentials. */
  headers: Record<string, string>
  /** Paths that the walk begins at. */
  roots?: string[]
  /** Told of every answer that was got with the credentials. */
  visit?: (visit: Visit) => unknown
  /** Links followed at most. */
  most?: number
  /** Which links are followed; all of them if not said. */
  wants?: (errand: Errand) => boolean
  /** Facets chosen at most on the way to a feed. */
  facets?: number
  /** What is searched for. */
  terms?: string[]
  /** Addresses of one sort that are also asked for by HEAD and without credentials. */
  doors?: number
}

export type Crawled = {
  /** Links followed. */
  links: Record<What, number>
  /** Requests that this took. */
  requests: number
  /** `ADDRESS: what is wrong`. */
  wrong: string[]
}

const abreast = 4
/** Problems told; beyond that they are counted. */
const mostTold = 1000

export async function crawl(options: Options): Promise<Crawled> {
  const { base, headers, most = Number.POSITIVE_INFINITY, doors = 2, facets = 1 } = options
  const { roots = ['/opds/v1/catalog', '/opds/v2'], terms = ['a'], wants = () => true } = options
  const links = { document: 0, image: 0, file: 0, stream: 0, resource: 0 }
  const wrong: string[] = []
  const seen = new Set<string>()
  const sorts = new Map<string, number>()
  let requests = 0
  let problems = 0
  const complain = (url: string, from: string | null, problem: string) => {
    problems += 1
    if (problems > mostTold) return
    wrong.push(`${url}: ${problem}${from === null ? '' : ` (from ${from})`}`)
  }
  const rules = openRules(complain)
  const asking =
    (own: Record<string, string>, told: (url: string, answer: Answer) => void = () => {}): Ask =>
    async (url, { method = 'GET', headers = {} } = {}) => {
      requests += 1
      const all = { 'accept-encoding': 'identity', ...own, ...headers }
      const response = await fetch(url, { method, headers: all, redirect: 'manual' })
      const body = Buffer.from(await response.arrayBuffer())
      const answer = { status: response.status, headers: response.headers, body }
      told(url, answer)
      return answer
    }
  const stranger = asking({})

  const one = async (errand: Errand): Promise<Errand[]> => {
    const { url, from, what } = errand
    links[what] += 1
    const say = (problem: string) => complain(url, from, problem)
    if (!url.startsWith(`${base}/`)) {
      say('is not an address of this server')
      return []
    }
    const answers: [string, Answer][] = []
    const ask = asking(headers, (at, answer) => answers.push([at, answer]))
    const document = await follow(errand, ask, say)
    for (const [at, answer] of answers)
      await options.visit?.({ ...answer, url: at, errand, document: at === url ? document : null })
    const sort = sortOf(`${what} ${url}`)
    const known = sorts.get(sort) ?? 0
    if (known < doors && what !== 'stream') {
      sorts.set(sort, known + 1)
      await knock(url, { ask: asking(headers), stranger, complain: say })
    }
    if (!document) return []
    rules.visit(errand, document)
    return errandsOf(document, errand, terms)
  }

  let frontier = roots.map(
    (path): Errand => ({
      what: 'document',
      url: base + path,
      from: null,
      link: null,
      version: path.includes('/v2') ? 2 : 1,
      facets: 0,
    }),
  )
  let followed = 0
  while (frontier.length > 0) {
    const wave = frontier.filter(errand => {
      const isNew = !seen.has(errand.url) && (errand.from === null || wants(errand))
      if (!isNew || errand.facets > facets || followed >= most) return false
      seen.add(errand.url)
      followed += 1
      return true
    })
    frontier = []
    const turns = wave.values()
    const walk = async () => {
      for (const errand of turns)
        frontier.push(...(await one(errand)).filter(e => !seen.has(e.url)))
    }
    await Promise.all(Array.from({ length: abreast }, walk))
  }
  rules.end(followed < most)
  if (problems > mostTold) wrong.push(`… and ${problems - mostTold} more`)
  return { links, requests, wrong }
}
