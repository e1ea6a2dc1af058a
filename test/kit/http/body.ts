// Response body of a test request; for endless event streams, the first data.
import { setTimeout as sleep } from 'node:timers/promises'

const quietMs = 200

export async function readBody(response: Response): Promise<Buffer> {
  const isEndless = response.headers.get('content-type')?.startsWith('text/event-stream')
  if (!isEndless || !response.body) return Buffer.from(await response.arrayBuffer())
  const reader = response.body.getReader()
  const chunks: Uint8Array[] = []
  for (;;) {
    const chunk = await Promise.race([reader.read(), sleep(quietMs, null)])
    if (!chunk?.value) break
    chunks.push(chunk.value)
  }
  await reader.cancel()
  return Buffer.concat(chunks)
}
