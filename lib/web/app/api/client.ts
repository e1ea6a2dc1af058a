// Client of the REST API with the types of its OpenAPI document.
import createClient from 'openapi-fetch'
import { basePath } from './address.ts'
import { failureOf, noConnection } from './errors.ts'
import { fetchWatched } from './reachable.ts'
import type { components, paths } from './schema.d.ts'
import { accessToken, renewRefused, untilSignedOut } from './session.ts'

/** Records of the API by the name of their schema, such as `Schemas['Book']`. */
export type Schemas = components['schemas']

/**
 * `await api.GET('/api/v1/series/{id}', { params: { path: { id } } })` gives `{ data }`. Every method throws
 * ApiError for an error response or a lost connection, and AbortError when its `signal` is aborted.
 */
export const api = createClient<paths>({ baseUrl: basePath || '/', fetch: sendAuthorized })

async function sendAuthorized(request: Request): Promise<Response> {
  const token = await accessToken()
  // A sign-in, registration or setup.
  if (token === null && request.method !== 'GET') await untilSignedOut()
  const repeated = request.clone()
  const response = await send(request, token)
  if (response.status !== 401 || token === null) return await checked(response)
  const renewed = await renewRefused(token)
  if (renewed === null || renewed === token) return await checked(response)
  return await checked(await send(repeated, renewed))
}

async function send(request: Request, token: string | null): Promise<Response> {
  if (token !== null) request.headers.set('authorization', `Bearer ${token}`)
  try {
    return await fetchWatched(request)
  } catch (error) {
    if (request.signal.aborted) throw error
    throw noConnection()
  }
}

async function checked(response: Response): Promise<Response> {
  if (!response.ok) throw await failureOf(response)
  return response
}

/** The body of a response of `api`. */
export async function body<T>(response: Promise<{ data?: T }>): Promise<T> {
  return (await response).data as T
}

type Page = { page: number; pageSize: number }
type PageResponse<T> = { data?: { data: T[]; totalPages: number } }

const pageSize = 500

/** `load` requests a page; its errors are passed on. */
export async function allItems<T>(load: (page: Page) => Promise<PageResponse<T>>): Promise<T[]> {
  const { data, totalPages } = await body(load({ page: 1, pageSize }))
  const others = Array.from({ length: totalPages - 1 }, (_, i) =>
    body(load({ page: i + 2, pageSize })),
  )
  return [...data, ...(await Promise.all(others)).flatMap(({ data }) => data)]
}
