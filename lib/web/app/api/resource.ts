// Data of a view: loaded from the API, shown immediately when the reader returns, reloaded after changes.
import { useEffect, useRef, useState } from 'preact/hooks'
import type { ApiError } from './errors.ts'
import { isTemporary, untilRetry } from './reachable.ts'
import { onSignOut } from './sign-out.ts'

export type Resource<T> = {
  data: T | undefined
  error: ApiError | Error | undefined
  isLoading: boolean
  /** Reloads the data; the current data is shown until then. */
  reload(): void
  /** Replaces the data until the next load, for changes already sent to the server. */
  replace(data: T): void
}

const maxStored = 60
/** The latest data by key, for going back. */
const stored = new Map<string, unknown>()
onSignOut(() => stored.clear())

function remember(key: string, data: unknown) {
  stored.delete(key)
  stored.set(key, data)
  if (stored.size > maxStored) stored.delete(stored.keys().next().value!)
}

/** Whether each has data or an error: parts are shown together so that late ones do not move the others. */
export const haveLoaded = (...resources: { isLoading: boolean }[]): boolean =>
  resources.every(({ isLoading }) => !isLoading)

/** `load` runs when `key` changes, and is aborted when the view is left. A null key loads nothing. */
export function useResource<T>(
  key: string | null,
  load: (signal: AbortSignal) => Promise<T>,
): Resource<T> {
  const [attempt, setAttempt] = useState(0)
  const [state, setState] = useState<{ key: string | null; data?: T; error?: Error }>({ key: null })
  /** Consecutive failures. */
  const failures = useRef(0)
  useEffect(() => {
    failures.current = 0
  }, [key])
  useEffect(() => {
    if (key === null) return
    const controller = new AbortController()
    load(controller.signal).then(
      data => {
        if (controller.signal.aborted) return
        failures.current = 0
        remember(key, data)
        setState({ key, data })
      },
      async error => {
        if (controller.signal.aborted) return
        setState(previous => ({ ...(previous.key === key ? previous : {}), key, error }))
        if (!isTemporary(error)) return
        // Retried automatically while the server is restarting or unreachable.
        await untilRetry(error, ++failures.current)
        if (!controller.signal.aborted) setAttempt(attempt => attempt + 1)
      },
    )
    return () => controller.abort()
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
