// Chromium by its debugging protocol alone: libraries record all responses in the page, whose memory is measured here.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { findBrowser } from '../../test/kit/web/browser.ts'

export type Tab = Awaited<ReturnType<typeof openTab>>

const maxStartMs = 60_000
const pollMs = 20

/** A browser of its own with an empty profile. Throws when none is installed or it does not start. */
export async function openTab({ width, height }: { width: number; height: number }) {
  const path = findBrowser()
  if (path === null) throw new Error('no Chromium is installed')
  const profile = mkdtempSync(join(tmpdir(), 'stackroom-chromium-'))
  const flags = ['--headless=new', '--no-sandbox', '--remote-debugging-port=0']
  const size = `--window-size=${width},${height}`
  const child = spawn(path, [...flags, size, `--user-data-dir=${profile}`, 'about:blank'], {
    stdio: 'ignore',
  })
  const socket = new WebSocket(await pageAddress(profile))
  await once(socket, 'open')
  const send = createSender(socket)
  const evaluate = async <T>(expression: string): Promise<T> => {
    const options = { expression, returnByValue: true, awaitPromise: true }
    const { result, exceptionDetails } = await send('Runtime.evaluate', options)
    if (exceptionDetails) throw new Error(JSON.stringify(exceptionDetails))
    return result.value
  }
  return {
    send,
    evaluate,
    async press(key: string) {
      for (const type of ['keyDown', 'keyUp'])
        await send('Input.dispatchKeyEvent', { type, key, code: key })
    },
    async waitFor(expression: string) {
      const end = performance.now() + maxStartMs
      while (!(await evaluate(expression).catch(() => false))) {
        if (performance.now() > end) throw new Error(`Does not come true: ${expression}`)
        await sleep(pollMs)
      }
    },
    /** Resident bytes of the largest renderer of this browser. */
    residentBytes: () => Math.max(...renderersOf(child.pid!).map(residentOf)),
    async close() {
      const exited = once(child, 'exit')
      // Its answer may not arrive before the connection ends.
      void send('Browser.close').catch(() => {})
      await exited
      rmSync(profile, { recursive: true, force: true })
    },
  }
}

async function pageAddress(profile: string): Promise<string> {
  const end = performance.now() + maxStartMs
  for (;;) {
    try {
      const [port] = readFileSync(join(profile, 'DevToolsActivePort'), 'utf8').split('\n')
      const response = await fetch(`http://127.0.0.1:${port}/json`)
      const targets = (await response.json()) as { type: string; webSocketDebuggerUrl: string }[]
      const page = targets.find(({ type }) => type === 'page')
      if (page) return page.webSocketDebuggerUrl
    } catch (error) {
      if (performance.now() > end) throw error
    }
    await sleep(pollMs)
  }
}

/** The results of the methods in use. */
type Result = { result: { value: never }; exceptionDetails?: object; identifier?: string }
type Message = { id: number; result: Result; error?: { message: string } }

function createSender(socket: WebSocket) {
  const waiting = new Map<number, (message: Message) => void>()
  let count = 0
  socket.addEventListener('message', ({ data }) => {
    const message: Message = JSON.parse(data)
    waiting.get(message.id)?.(message)
    waiting.delete(message.id)
  })
  return async (method: string, params: object = {}): Promise<Result> => {
    count += 1
    const { promise, resolve } = Promise.withResolvers<Message>()
    waiting.set(count, resolve)
    socket.send(JSON.stringify({ id: count, method, params }))
    const { result, error } = await promise
    if (error) throw new Error(`${method}: ${error.message}`)
    return result
  }
}

function renderersOf(parent: number): number[] {
  const children = readFileSync(`/proc/${parent}/task/${parent}/children`, 'utf8')
  return children
    .split(' ')
    .filter(Boolean)
    .map(Number)
    .flatMap(pid => {
      const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8')
      const isPage = command.includes('--type=renderer') && !command.includes('top-chrome')
      return [...(isPage ? [pid] : []), ...renderersOf(pid)]
    })
}

function residentOf(pid: number): number {
  const [, kilobytes] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return Number(kilobytes ?? 0) * 1024
}
