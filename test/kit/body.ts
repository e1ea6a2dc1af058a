// The body of an answer; of a stream without end what comes at once.
import { setTimeout as sleep } from 'node:timers/promises'

const quietMs = 200

export async function bodyOf(response: Response): Promise<Buffer> {
  const isEndless = response.headers.get('content-type')?.startsWith('text/event-stream')
  if (!isEndless || !response.body) return Buffer.from(await response.arrayBuffer())
  const reader = response.body.getReader()
  const parts: Uint8Array[] = []
  for (;;) {
    const part = await Promise.race([reader.read(), sleep(quietMs, null)])
    if (!part?.value) break
    parts.push(part.value)
  }
  await reader.cancel()
  return Buffer.concat(parts)
}
