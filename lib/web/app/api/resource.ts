// Data of a view: loaded from the API, shown again at once when the reader comes back, reloaded after changes.
import { useEffect, useState } from 'preact/hooks'
import { ApiError } from './errors.ts'
import { onSignOut } from './sign-out.ts'

export type Resource<T> = {
  data: T | undefined
  error: ApiError | Error | undefined
  isLoading: boolean
  /** Loads it again; what is shown stays until then. */
  reload(): void
  /** Replaces it until the next load, for changes that were sent to the server. */
  replace(data: T): void
}

const temporaryStatus = [0, 502, 503, 504]
const [minRetryMs, maxRetryMs] = [2_000, 10_000]
const isTemporary = (error: unknown): error is ApiError =>
  error instanceof ApiError && temporaryStatus.includes(error.status)
const retryMs = ({ retryAfter }: ApiError) =>
  Math.min(maxRetryMs, Math.max(minRetryMs, (retryAfter ?? 0) * 1000)) * (0.8 + 0.4 * Math.random())

const maxStored = 60
/** The latest data by key, for going back. */
const stored = new Map<string, unknown>()
onSignOut(() => stored.clear())

function remember(key: string, data: unknown) {
  stored.delete(key)
  stored.set(key, data)
  if (stored.size > maxStored) stored.delete(stored.keys().next().value!)
}

/** `load` runs when `key` changes, and is aborted when the view is left. A null key loads nothing. */
export function useResource<T>(
  key: string | null,
  load: (signal: AbortSignal) => Promise<T>,
): Resource<T> {
  const [attempt, setAttempt] = useState(0)
  const [state, setState] = useState<{ key: string | null; data?: T; error?: Error }>({ key: null })
  useEffect(() => {
    if (key === null) return
    const controller = new AbortController()
    let timer: ReturnType<typeof setTimeout> | undefined
    load(controller.signal).then(
      data => {
        if (controller.signal.aborted) return
        remember(key, data)
        setState({ key, data })
      },
      error => {
        if (controller.signal.aborted) return
        setState(previous => ({ ...(previous.key === key ? previous : {}), key, error }))
        // While the server restarts or cannot be reached, it goes on by itself.
        if (isTemporary(error))
          timer = setTimeout(() => setAttempt(attempt => attempt + 1), retryMs(error))
      },
    )
    return () => {
      controller.abort()
      clearTimeout(timer)
    }
  }, [key, attempt])
  const isCurrent = state.key === key && key !== null
  const data =
    isCurrent && 'data' in state ? state.data : key === null ? undefined : (stored.get(key) as T)
  const error = isCurrent ? state.error : undefined
  return {
    data,
    error,
    isLoading: key !== null && data === undefined && error === undefined,
    reload: () => setAttempt(attempt => attempt + 1),
    replace(next) {
      if (key === null) return
      remember(key, next)
      setState({ key, data: next })
    },
  }
}
