// Feed server for tests: one path per behavior; records received requests.
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Test } from 'tap'
import type { TypedRow } from '../../../lib/sources/open.ts'

export type Handler = (request: IncomingMessage, response: ServerResponse) => void

export async function startFeedServer(t: Test, handlers: Record<string, Handler>) {
  const requests: { path: string; headers: IncomingMessage['headers'] }[] = []
  const server = createServer((request, response) => {
    const path = request.url ?? ''
    requests.push({ path, headers: request.headers })
    const handler = handlers[path]
    if (handler) handler(request, response)
    else response.writeHead(404).end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return { base, requests, countOf: (path: string) => requests.filter(r => r.path === path).length }
}

export const feedRow = (url: string, config: object = {}, credentials = {}): TypedRow => ({
  id: '1',
  type: 'feed',
  name: 'feed',
  displayName: 'Feed',
  config: { url, ...config },
  credentials,
  description: null,
})

export const rss = (items: string) =>
  `<?xml version="1.0" encoding="UTF-8"?><rss version="2.0" xmlns:nyaa="https://nyaa.example/xmlns/nyaa"><channel>
  <title>New books</title><link>https://books.example/</link><description>d</description>${items}</channel></rss>`

export const rssItem = (n: number, title = `Series ${n} v01`) =>
  `<item><title>${title}</title><link>https://books.example/${n}.torrent</link>
  <guid isPermaLink="true">https://books.example/view/${n}</guid>
  <pubDate>Mon, 06 Sep 2021 00:01:00 +0000</pubDate></item>`
