// Requests of the clients of a crash test: statuses are counted; anything but a success and a 503 with Retry-After is
// a problem.
import { setTimeout as sleep } from 'node:timers/promises'

export type TextResponse = { status: number; body: string }
export type Requests = ReturnType<typeof createRequests>

type Options = {
  method?: string
  /** Sent as JSON, unless it is a form. */
  body?: unknown
  headers?: Record<string, string>
  /** Further statuses that are no problem. */
  allowed?: readonly number[]
}

export function createRequests() {
  const statuses: Record<string, number> = {}
  const problems = new Map<string, number>()
  const note = (problem: string) => problems.set(problem, (problems.get(problem) ?? 0) + 1)

  async function ask(
    base: string,
    key: string,
    path: string,
    { method = 'GET', body, headers = {}, allowed = [] }: Options = {},
  ): Promise<TextResponse> {
    const name = `${method} ${path.replace(/[0-9a-f-]{32,36}/g, '{id}')}`
    const isJson = body !== undefined && !(body instanceof FormData)
    try {
      const answer = await fetch(`${base}${path}`, {
        method,
        ...(body === undefined ? {} : { body: isJson ? JSON.stringify(body) : (body as FormData) }),
        headers: {
          'x-api-key': key,
          ...(isJson ? { 'content-type': 'application/json' } : {}),
          ...headers,
        },
      })
      const text = await answer.text()
      const isPlain = answer.status === 503 && answer.headers.has('retry-after')
      const status = answer.status === 503 && !isPlain ? '503 without Retry-After' : answer.status
      statuses[status] = (statuses[status] ?? 0) + 1
      if (!answer.ok && !isPlain && !allowed.includes(answer.status))
        note(`${answer.status} ${name} ${text.slice(0, 120)}`)
      return { status: answer.status, body: text }
    } catch (error) {
      const { cause, message } = error as Error
      note(`${name}: ${cause ?? message}`)
      return { status: 0, body: '' }
    }
  }

  return {
    statuses,
    problems,
    ask,
    /** Sends a request again, to the next server each time, until it is answered by less than 500. */
    async untilDone(
      bases: readonly string[],
      key: string,
      path: string,
      options: Options = {},
    ): Promise<TextResponse & { attempts: number }> {
      for (let attempts = 1; ; attempts++) {
        const answer = await ask(bases[attempts % bases.length]!, key, path, options)
        if (answer.status > 0 && answer.status < 500) return { ...answer, attempts }
        await sleep(50)
      }
    },
  }
}
