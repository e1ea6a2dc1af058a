// Requests of an attack: as they are sent, some at a time.
export type Attack = {
  /** Whose credentials the request has. */
  by: string
  method: string
  /** From the root of the server. */
  path: string
  body?: string | Uint8Array<ArrayBuffer> | FormData
  /** Content-Type of the body; null for what `fetch` sets. */
  type?: string | null
}
export type Phase = [name: string, attacks: Iterable<Attack>]
export type Received = { status: number; text: string; headers: string }

// A stream of events does not end.
const quietMs = 150
const maxTextBytes = 2_000_000

export async function send(
  base: string,
  credentials: Record<string, string>,
  { method, path, body, type = 'application/json' }: Attack,
): Promise<Received> {
  const hasType = body !== undefined && type !== null
  const headers = { ...credentials, ...(hasType ? { 'content-type': type } : {}) }
  const init = { method, headers, ...(body === undefined ? {} : { body }) }
  const response = await fetch(base + path, {
    ...init,
    redirect: 'manual',
    signal: AbortSignal.timeout(120_000),
  })
  const text = await textOf(response)
  return { status: response.status, text, headers: JSON.stringify([...response.headers]) }
}

async function textOf({ headers, body }: Response): Promise<string> {
  if (body === null) return ''
  const isEndless = headers.get('content-type')?.startsWith('text/event-stream')
  const reader = body.getReader()
  const chunks: Uint8Array[] = []
  let length = 0
  while (length < maxTextBytes) {
    const silence = Promise.withResolvers<null>()
    const timer = isEndless ? setTimeout(silence.resolve, quietMs, null) : undefined
    const chunk = await Promise.race([reader.read(), silence.promise])
    clearTimeout(timer)
    if (!chunk?.value) break
    chunks.push(chunk.value)
    length += chunk.value.length
  }
  await reader.cancel().catch(() => {})
  return Buffer.concat(chunks).toString('latin1')
}

/** Sends some at a time; how many had each status, or the name of an error. */
export async function sendAll(
  attacks: Iterable<Attack>,
  { attackers, sendOne }: { attackers: number; sendOne: (attack: Attack) => Promise<number> },
): Promise<Map<string, number>> {
  const statuses = new Map<string, number>()
  const waiting = attacks[Symbol.iterator]()
  const attacker = async () => {
    for (let next = waiting.next(); !next.done; next = waiting.next()) {
      const status = await sendOne(next.value).catch(error => error.name)
      statuses.set(String(status), (statuses.get(String(status)) ?? 0) + 1)
    }
  }
  await Promise.all(Array.from({ length: attackers }, attacker))
  return statuses
}
