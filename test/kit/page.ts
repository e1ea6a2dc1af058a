// A web page with the API under its own address, and a browser that opens it.
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Test } from 'tap'
import { temporary } from './library.ts'

/** Where a browser is on this machine; undefined where there is none. */
export const browser = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
].find(existsSync)

/** Serves `html` at `/`, the API of `base` below it, and hands on what the page posts to `/report`. */
export async function pageBefore(
  t: Test,
  { base, html, report }: { base: string; html: string; report: (said: any) => void },
): Promise<string> {
  const api = new URL(base)
  const server = createServer((asked, answer) => {
    if (asked.url === '/') return void answer.setHeader('content-type', 'text/html').end(html)
    if (asked.url === '/report') {
      let text = ''
      asked.on('data', chunk => {
        text += chunk
      })
      asked.on('end', () => {
        report(JSON.parse(text))
        answer.end()
      })
      return
    }
    const passed = request(
      {
        host: api.hostname,
        port: api.port,
        method: asked.method ?? 'GET',
        path: asked.url ?? '/',
        headers: asked.headers,
      },
      from => {
        answer.writeHead(from.statusCode ?? 502, from.headers)
        answer.flushHeaders()
        from.pipe(answer)
      },
    )
    passed.on('error', () => answer.destroy())
    answer.on('close', () => passed.destroy())
    asked.pipe(passed)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
}

/** Opens a page in a browser without a screen, until the end of `t`. */
export function openPage(t: Test, url: string): ChildProcess {
  const child = spawn(
    browser!,
    [
      '--headless',
      '--no-sandbox',
      '--disable-gpu',
      `--user-data-dir=${temporary(t)}`,
      '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1',
      '--remote-debugging-port=0',
      url,
    ],
    { stdio: 'ignore', detached: true },
  )
  t.teardown(() => process.kill(-child.pid!, 'SIGKILL'))
  return child
}
