// Errors of the API.

/** An error response. `status` 0: the server could not be reached. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly status: number
  readonly details: unknown
  /** Seconds after which the request may be repeated. */
  readonly retryAfter: number | null
  /** Whether the server itself answered, not a proxy in front of it. */
  readonly isOfApi: boolean
  constructor(
    status: number,
    message: string,
    {
      details = null,
      retryAfter = null,
      isOfApi = false,
    }: { details?: unknown; retryAfter?: number | null; isOfApi?: boolean } = {},
  ) {
    super(message)
    this.status = status
    this.details = details
    this.retryAfter = retryAfter
    this.isOfApi = isOfApi
  }
}

export const noConnection = () => new ApiError(0, 'The server cannot be reached')

export async function failureOf(response: Response): Promise<ApiError> {
  const body = await response.json().catch(() => null)
  const retryAfter = Number(response.headers.get('retry-after')) || null
  const isOfApi = typeof body?.message === 'string'
  const message = isOfApi ? body.message : response.statusText
  const details = body?.details ?? null
  return new ApiError(response.status, message, { details, retryAfter, isOfApi })
}
