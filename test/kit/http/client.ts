// HTTP client of the API under test: checks every response against the OpenAPI document.
import { readBody } from './body.ts'
import { assertConforms } from './openapi.ts'

export type Client = ReturnType<typeof createClient>
export type ApiResponse<T = any> = {
  status: number
  headers: Headers
  /** Parsed JSON; null for other media types. */
  body: T
  bytes: Buffer
}
type RequestOptions = {
  /** Sent as JSON. */
  body?: unknown
  headers?: Record<string, string>
  /** Sent as it is. */
  raw?: Buffer | FormData | string
}

/** A client that sends `headers` with every request. Paths are relative to /api/v1, but for /opds, /health and /koreader. */
export function createClient(base: string, headers: Record<string, string>) {
  const request = async <T = any>(
    method: string,
    path: string,
    options: RequestOptions = {},
  ): Promise<ApiResponse<T>> => {
    const url = /^\/(?:opds|health|koreader)/.test(path) ? path : `/api/v1${path}`
    const hasBody = options.body !== undefined
    const response = await fetch(base + url, {
      method,
      redirect: 'manual',
      headers: {
        ...headers,
        ...(hasBody ? { 'content-type': 'application/json' } : {}),
        ...options.headers,
      },
      ...(hasBody
        ? { body: JSON.stringify(options.body) }
        : options.raw
          ? { body: options.raw as never }
          : {}),
    })
    const bytes = await readBody(response)
    const type = response.headers.get('content-type') ?? ''
    assertConforms(method, url, { status: response.status, type, bytes })
    const body = type.includes('json') && bytes.length > 0 ? JSON.parse(bytes.toString()) : null
    return { status: response.status, headers: response.headers, body, bytes }
  }
  return {
    request,
    get: <T = any>(path: string, options?: RequestOptions) => request<T>('GET', path, options),
    post: <T = any>(path: string, body?: unknown, options?: RequestOptions) =>
      request<T>('POST', path, { ...options, body }),
    put: <T = any>(path: string, body?: unknown, options?: RequestOptions) =>
      request<T>('PUT', path, { ...options, body }),
    patch: <T = any>(path: string, body?: unknown, options?: RequestOptions) =>
      request<T>('PATCH', path, { ...options, body }),
    delete: <T = any>(path: string, options?: RequestOptions) =>
      request<T>('DELETE', path, options),
  }
}
