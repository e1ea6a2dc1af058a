// Client of server-sent events that keeps the whole text of the stream.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Scope } from '../db.ts'

export type SseMessage = { event: string | null; id: string | null; data: any }
export type SseClient = Awaited<ReturnType<typeof openSseClient>>

/** A busy machine may take long. */
const maxWaitMs = 120_000

/** Opens a stream until the end of `t`; returns when the first bytes have arrived. `path` is relative to /api/v1. */
export async function openSseClient(
  t: Scope,
  base: string,
  {
    path = '/events/stream',
    headers = {},
  }: { path?: string; headers?: Record<string, string> } = {},
) {
  const stop = new AbortController()
  t.teardown(() => stop.abort())
  const response = await fetch(`${base}/api/v1${path}`, {
    headers: { accept: 'text/event-stream', ...headers },
    signal: stop.signal,
  })
  const waiting = new Set<() => void>()
  const messages: SseMessage[] = []
  let parsedLength = 0
  const parseArrived = () => {
    for (;;) {
      const end = client.text.indexOf('\n\n', parsedLength)
      if (end === -1) return messages
      messages.push(...parse(client.text.slice(parsedLength, end)))
      parsedLength = end + 2
    }
  }
  const client = {
    status: response.status,
    headers: response.headers,
    text: '',
    hasEnded: false,
    /** Messages received so far, without comments. */
    events: () => [...parseArrived()],
    /** Waits until there are `count` messages; returns all. */
    async waitForEvents(count: number, timeoutMs = maxWaitMs) {
      await waitFor(() => client.hasEnded || parseArrived().length >= count, timeoutMs)
      return client.events()
    },
    async waitForEnd(timeoutMs = maxWaitMs) {
      await waitFor(() => client.hasEnded, timeoutMs)
      return client.hasEnded
    },
    /**
     * Waits until the stream has passed event `number`, visible or not; returns all messages. With a short
     * `keepAliveMs`, because the number of an event that is not visible is sent with the next comment.
     */
    async waitForNumber(number: number, timeoutMs = maxWaitMs) {
      const last = () =>
        Number(
          client.text
            .match(/^id: \d+$/gm)
            ?.at(-1)
            ?.slice('id: '.length),
        )
      await waitFor(() => client.hasEnded || last() >= number, timeoutMs)
      return client.events()
    },
    /** Waits until nothing has arrived for `ms`; returns all messages. */
    async waitForQuiet(ms = 300) {
      for (let before = -1; before !== client.text.length; ) {
        before = client.text.length
        await sleep(ms)
      }
      return client.events()
    },
    close: () => stop.abort(),
  }
  const waitFor = async (condition: () => boolean, timeoutMs: number) => {
    const end = Date.now() + timeoutMs
    while (!condition() && Date.now() < end) {
      await new Promise<void>(resolve => {
        const timer = setTimeout(resolve, end - Date.now())
        waiting.add(() => {
          clearTimeout(timer)
          resolve()
        })
      })
    }
  }
  const notify = () => {
    for (const wake of waiting) wake()
    waiting.clear()
  }
  const read = async () => {
    const decoder = new TextDecoder()
    for await (const chunk of response.body!) {
      client.text += decoder.decode(chunk as Uint8Array, { stream: true })
      notify()
    }
  }
  read()
    .catch(() => {})
    .finally(() => {
      client.hasEnded = true
      notify()
    })
  await waitFor(() => client.text !== '' || client.hasEnded, maxWaitMs)
  return client
}

function parse(block: string): SseMessage[] {
  const lines = block.split('\n')
  const field = (name: string) =>
    lines.find(line => line.startsWith(`${name}: `))?.slice(name.length + 2) ?? null
  const data = field('data')
  return data === null ? [] : [{ event: field('event'), id: field('id'), data: JSON.parse(data) }]
}
