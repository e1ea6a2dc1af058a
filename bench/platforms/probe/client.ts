// HTTP client of the probe: an unexpected status is an error that quotes the response. Where the server limits
// the rate, the request is repeated after the time that it states.
import { setTimeout as sleep } from 'node:timers/promises'

export type Client = ReturnType<typeof createClient>
type Options = {
  method?: string
  body?: unknown
  headers?: Record<string, string>
  status?: number
}

const timeoutMs = 30_000

/** Paths begin at `base`. */
export function createClient(base: string, headers: Record<string, string> = {}) {
  async function send(
    path: string,
    options: Options = {},
  ): Promise<{ bytes: Buffer; type: string }> {
    const { method = options.body === undefined ? 'GET' : 'POST', body, status = 200 } = options
    const response = await fetch(`${base}${path}`, {
      method,
      headers: {
        ...headers,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...options.headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(timeoutMs),
    })
    const bytes = Buffer.from(await response.arrayBuffer())
    if (response.status === 429 && status !== 429) {
      await sleep(Number(response.headers.get('retry-after')) * 1000)
      return send(path, options)
    }
    if (response.status !== status)
      throw new Error(`${method} ${path} responds ${response.status}: ${bytes.subarray(0, 200)}`)
    return { bytes, type: response.headers.get('content-type') ?? '' }
  }

  return {
    base,
    headers,
    send,
    text: async (path: string, options?: Options) => (await send(path, options)).bytes.toString(),
    // biome-ignore lint/suspicious/noExplicitAny: bodies are checked by the callers
    async json(path: string, options?: Options): Promise<any> {
      const { bytes } = await send(path, options)
      return bytes.length > 0 ? JSON.parse(bytes.toString()) : null
    },
    with: (more: Record<string, string>) => createClient(base, { ...headers, ...more }),
  }
}

export const basic = (username: string, password: string) => ({
  authorization: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`,
})

/** Polls until the result is neither null nor an error; throws what came last after `seconds`. */
export async function poll<T>(seconds: number, attempt: () => Promise<T | null>): Promise<T> {
  let problem: unknown = null
  for (const end = Date.now() + seconds * 1000; Date.now() < end; ) {
    try {
      const result = await attempt()
      if (result !== null) return result
    } catch (error) {
      problem = error
    }
    await sleep(100)
  }
  throw problem ?? new Error(`nothing within ${seconds} s`)
}
