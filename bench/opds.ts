// Crawler of both OPDS catalogs: follows every link over a library of mixed books with hostile titles, served as it
// is installed, and holds all documents against schemas, parsers of reading apps and each other.
// With --flat: the memory of the server while that many feeds are crawled.
// npm run bench -- opds [--books 2000] [--jing] [--flat 10000] [--facets 1]
//   [--url http://… --key KEY]   a server that is there already
//   [--folder DIR]               where library, data and bad documents stay, for another run
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { crawl, type Visit } from '../test/kit/opds/crawl.ts'
import { feedKind } from '../test/kit/opds/link-kind.ts'
import { validationErrors } from '../test/kit/opds/validators.ts'
import { print } from './kit/stackroom.ts'
import { openJing } from './opds/jing.ts'
import { createLibrary } from './opds/library.ts'
import { type Server, serveLibrary } from './opds/server.ts'

const { values } = parseArgs({
  options: {
    books: { type: 'string', default: '2000' },
    jing: { type: 'boolean', default: false },
    flat: { type: 'string' },
    facets: { type: 'string', default: '1' },
    url: { type: 'string' },
    key: { type: 'string' },
    folder: { type: 'string' },
  },
})
const uuid = /[\da-f]{8}-[\da-f-]{27}/
type Target = Pick<Server, 'base' | 'headers'> & Partial<Server>

const folder = values.folder ?? mkdtempSync(join(tmpdir(), 'stackroom-opds-'))
const target = await open()
try {
  if (values.flat) await flat(target, Number(values.flat))
  else await everything(target)
} finally {
  await target.close?.()
  if (!values.folder) rmSync(folder, { recursive: true })
}

async function open(): Promise<Target> {
  if (values.url) return { base: values.url, headers: { 'x-api-key': values.key ?? '' } }
  const library = await createLibrary(folder, Number(values.books))
  const began = performance.now()
  const server = await serveLibrary(join(folder, 'data'), library)
  print({ books: server.books, scanSeconds: seconds(began) })
  return server
}

async function everything({ base, headers, memory, damaged = [] }: Target) {
  const began = performance.now()
  const problems: string[] = []
  const shapes: Record<string, number> = {}
  const jing = values.jing ? openJing(join(folder, 'atom')) : null
  const visit = async (visit: Visit) => {
    const { document, body } = visit
    if (document === null) return
    const name = `${document.version === 1 ? 'atom' : 'json'} ${document.shape}`
    shapes[name] = (shapes[name] ?? 0) + 1
    problems.push(...(await validationErrors(visit)))
    if (document.version === 1 && document.shape !== 'search') await jing?.add(body)
  }
  const result = await crawl({
    base,
    headers,
    visit,
    searchTerms: ['a', 'the', `Tom & "Jerry" <3> 100% #1?`, 'nothing at all'],
    maxFacets: Number(values.facets),
    checksPerPattern: 20,
  })
  const { links, requests } = result
  print({ links, requests, seconds: seconds(began), shapes, ...(memory ? { mb: memory() } : {}) })
  if (jing) {
    const { documents, errors } = await jing.end()
    print({ jing: documents, errors: errors.length, examples: errors.slice(0, 10) })
  }
  print({ schemasAndParsers: problems.length, examples: problems.slice(0, 20) })
  const { expected = [], unexpected = [] } = Object.groupBy(result.problems, line =>
    damaged.some(id => line.includes(id)) && line.includes('has status 422')
      ? 'expected'
      : 'unexpected',
  )
  print({ damagedBooksWith422: new Set(expected.map(line => uuid.exec(line)?.[0])).size })
  print({ linksAndAssertions: unexpected.length, examples: unexpected.slice(0, 50) })
}

/** Goes round until that many feeds were read. */
async function flat({ base, headers, memory }: Target, feeds: number) {
  let read = 0
  print({ feeds: read, mb: memory?.() })
  const visit = ({ document }: Visit) => {
    if (document?.shape !== 'feed') return
    read += 1
    if (read % 1000 === 0) print({ feeds: read, mb: memory?.() })
  }
  while (read < feeds) {
    const before = read
    const { problems: wrong } = await crawl({
      base,
      headers,
      visit,
      searchTerms: ['a', 'the', 'of'],
      maxFacets: Number.POSITIVE_INFINITY,
      checksPerPattern: 0,
      maxLinks: feeds - read,
      shouldFollow: ({ link }) =>
        feedKind(link?.type ?? '') !== undefined || link?.type === 'application/opds+json',
    })
    if (wrong.length > 0) print({ wrong: wrong.length, examples: wrong.slice(0, 5) })
    if (read === before) throw new Error('there are no feeds')
  }
}

function seconds(began: number) {
  return Math.round((performance.now() - began) / 100) / 10
}
