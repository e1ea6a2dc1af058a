// A client of server-sent events that keeps every byte it got.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Test } from 'tap'

export type Heard = { event: string | null; id: string | null; data: any }
export type Listening = Awaited<ReturnType<typeof listen>>

/** Follows a stream until the end of `t`. `path` is below /api/v1. */
export async function listen(
  t: Test,
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
  const client = {
    status: response.status,
    headers: response.headers,
    text: '',
    hasEnded: false,
    /** Messages, without comments. */
    events: () => client.text.split('\n\n').slice(0, -1).flatMap(parse),
    /** The messages, once there are so many. */
    async until(count: number, patienceMs = 5_000) {
      const end = Date.now() + patienceMs
      while (client.events().length < count && !client.hasEnded && Date.now() < end) await sleep(10)
      return client.events()
    },
    async ended(patienceMs = 5_000) {
      const end = Date.now() + patienceMs
      while (!client.hasEnded && Date.now() < end) await sleep(10)
      return client.hasEnded
    },
    /** Waits until nothing came for a while. */
    async quiet(ms = 300) {
      for (let before = -1; before !== client.text.length; ) {
        before = client.text.length
        await sleep(ms)
      }
      return client.events()
    },
    leave: () => stop.abort(),
  }
  const read = async () => {
    const decoder = new TextDecoder()
    for await (const part of response.body!)
      client.text += decoder.decode(part as Uint8Array, { stream: true })
  }
  read()
    .catch(() => {})
    .finally(() => {
      client.hasEnded = true
    })
  for (let left = 500; left > 0 && client.text === '' && !client.hasEnded; left--) await sleep(10)
  return client
}

function parse(block: string): Heard[] {
  const lines = block.split('\n')
  const of = (name: string) =>
    lines.find(line => line.startsWith(`${name}: `))?.slice(name.length + 2) ?? null
  const data = of('data')
  return data === null ? [] : [{ event: of('event'), id: of('id'), data: JSON.parse(data) }]
}
