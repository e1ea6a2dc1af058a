// Errors of the API.

/** An error response. `status` 0: the server could not be reached. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly status: number
  readonly details: unknown
  /** Seconds after which the request may be repeated. */
  readonly retryAfter: number | null
  constructor(
    status: number,
    message: string,
    { details = null, retryAfter = null }: { details?: unknown; retryAfter?: number | null } = {},
  ) {
    super(message)
    this.status = status
    this.details = details
    this.retryAfter = retryAfter
  }
}

export const noConnection = () => new ApiError(0, 'The server cannot be reached')

export async function failureOf(response: Response): Promise<ApiError> {
  const body = await response.json().catch(() => null)
  const retryAfter = Number(response.headers.get('retry-after')) || null
  const message = typeof body?.message === 'string' ? body.message : response.statusText
  return new ApiError(response.status, message, { details: body?.details ?? null, retryAfter })
}
