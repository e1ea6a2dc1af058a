// A web page on the same origin as the API, and a headless browser that opens it.
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Test } from 'tap'
import { temporaryFolder } from './folders.ts'

/** Path of a browser; undefined if none is installed. */
export const browserPath = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
].find(existsSync)

/** Serves `html` at `/`, proxies other paths to `base`, and passes on what the page posts to `/report`. */
export async function startPageServer(
  t: Test,
  { base, html, report }: { base: string; html: string; report: (message: any) => void },
): Promise<string> {
  const api = new URL(base)
  const server = createServer((incoming, outgoing) => {
    if (incoming.url === '/') return void outgoing.setHeader('content-type', 'text/html').end(html)
    if (incoming.url === '/report') {
      let text = ''
      incoming.on('data', chunk => {
        text += chunk
      })
      incoming.on('end', () => {
        report(JSON.parse(text))
        outgoing.end()
      })
      return
    }
    const proxied = request(
      {
        host: api.hostname,
        port: api.port,
        method: incoming.method ?? 'GET',
        path: incoming.url ?? '/',
        headers: incoming.headers,
      },
      response => {
        outgoing.writeHead(response.statusCode ?? 502, response.headers)
        outgoing.flushHeaders()
        response.pipe(outgoing)
      },
    )
    proxied.on('error', () => outgoing.destroy())
    outgoing.on('close', () => proxied.destroy())
    incoming.pipe(proxied)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
}

/** Opens a page in a headless browser until the end of `t`. */
export function openInBrowser(t: Test, url: string): ChildProcess {
  const child = spawn(
    browserPath!,
    [
      '--headless',
      '--no-sandbox',
      '--disable-gpu',
      `--user-data-dir=${temporaryFolder(t)}`,
      '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1',
      '--remote-debugging-port=0',
      url,
    ],
    { stdio: 'ignore', detached: true },
  )
  t.teardown(() => process.kill(-child.pid!, 'SIGKILL'))
  return child
}
