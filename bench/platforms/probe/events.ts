// Listener of an event stream.
import type { Client } from './client.ts'

/** Connects; `next` waits for an event whose text matches, also one that arrived earlier. */
export async function listenTo(client: Client, path: string) {
  const abort = new AbortController()
  const response = await fetch(`${client.base}${path}`, {
    headers: { ...client.headers, accept: 'text/event-stream' },
    signal: abort.signal,
  })
  if (response.status !== 200) {
    const body = await response.text()
    throw new Error(`${path} responds ${response.status}: ${body.slice(0, 200)}`)
  }
  let received = ''
  let onText = () => {}
  const reading = (async () => {
    const decoder = new TextDecoder()
    for await (const chunk of response.body!) {
      received += decoder.decode(chunk as Uint8Array, { stream: true })
      onText()
    }
  })().catch(() => {})
  return {
    async next(pattern: RegExp, seconds = 20): Promise<void> {
      const end = Date.now() + seconds * 1000
      while (!pattern.test(received)) {
        const left = end - Date.now()
        if (left <= 0) throw new Error(`${path} has no ${pattern} after ${seconds} s`)
        await new Promise<void>(resolve => {
          const timer = setTimeout(resolve, left)
          onText = () => {
            clearTimeout(timer)
            resolve()
          }
        })
      }
    },
    async close() {
      abort.abort()
      await reading
    },
  }
}
