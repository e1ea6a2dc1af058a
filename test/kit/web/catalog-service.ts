// A service with metadata of series and books on this machine, and the configuration of a source that maps it.
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Scope } from '../db.ts'

type Work = { id: string; name: string; about?: string; year?: number; people?: string[] }

/** `state.fault`: the body of every answer, with status 200, while it is set. */
export async function startCatalogService(
  t: Scope,
  { series, books }: { series: readonly Work[]; books: readonly Work[] },
) {
  const state = { fault: null as string | null }
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url!, 'http://service')
    const [, kind, id] = pathname.split('/')
    const works = kind === 'series' ? series : books
    const wanted = (searchParams.get('q') ?? '').toLowerCase()
    const found =
      id === undefined
        ? { items: works.filter(({ name }) => name.toLowerCase().includes(wanted)) }
        : (works.find(work => work.id === id) ?? null)
    response.setHeader('content-type', 'application/json')
    response.end(state.fault ?? JSON.stringify(found))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const hit = { externalId: '$.id', title: '$.name', year: '$.year' }
  const metadata = { title: '$.name', summary: '$.about', year: '$.year', authors: '$.people[*]' }
  const search = (kind: string, variable: string) => ({
    url: `${base}/${kind}?q={{${variable}}}`,
    items: '$.items[*]',
  })
  const config = {
    limits: { perMinute: 600 },
    search: { ...search('series', 'query'), fields: hit },
    series: { url: `${base}/series/{{externalId}}`, fields: { metadata } },
    bookSearch: { ...search('books', 'title'), fields: { ...hit, authors: '$.people[*]' } },
    book: { url: `${base}/books/{{externalId}}`, fields: { metadata } },
  }
  return { base, config, state }
}
