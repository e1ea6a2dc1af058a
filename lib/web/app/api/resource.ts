// Data of a view: loaded from the API, shown immediately when the reader returns, reloaded after changes.
import { useEffect, useRef, useState } from 'preact/hooks'
import { allItems, api, body, type Schemas } from './client.ts'
import type { ApiError } from './errors.ts'
import { isTemporary, untilRetry } from './reachable.ts'
import type { paths } from './schema.d.ts'
import { onSignOut } from './session.ts'

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

/** Call after a deletion: views to come load what was known of a path, such as `/api/v1/libraries`, before they show it. */
export function forget(path: GetPath) {
  for (const key of stored.keys()) if (key.startsWith(path)) stored.delete(key)
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

type Readable = { responses: { 200: { content: { 'application/json': unknown } } } }
type GetPath = { [P in keyof paths]: paths[P] extends { get: Readable } ? P : never }[keyof paths]
type Get<P extends GetPath> = Extract<paths[P]['get'], Readable>
type Params<P extends GetPath> =
  Get<P> extends { parameters: infer T } ? Pick<T, keyof T & ('path' | 'query')> : never
type Data<P extends GetPath> = Get<P>['responses'][200]['content']['application/json']

/**
 * `useGet('/api/v1/users/{id}', { path: { id } })`: the response to GET, loaded again when the path or the parameters
 * change. A null path loads nothing.
 */
export function useGet<P extends GetPath>(path: P | null, params?: Params<P>): Resource<Data<P>> {
  const get = api.GET as (path: P, init: object) => Promise<{ data?: Data<P> }>
  return useResource(path && `${path} ${JSON.stringify(params ?? {})}`, signal =>
    body(get(path!, { params, signal })),
  )
}

type Item<P extends GetPath> = Data<P> extends { data: (infer T)[] } ? T : never
type Page<T> = { data: T[]; totalPages: number }

/** All items of a list, however many pages it has. */
export function useGetAll<P extends GetPath>(
  path: P | null,
  params?: Params<P>,
): Resource<Item<P>[]> {
  const get = api.GET as (path: P, init: object) => Promise<{ data?: Page<Item<P>> }>
  return useResource(path && `${path} of all pages ${JSON.stringify(params ?? {})}`, signal =>
    allItems(query => get(path!, { params: { ...params, query }, signal })),
  )
}

export type Library = Schemas['Library']

/** The libraries that the account may see. */
export const useLibraries = (isNeeded = true): Resource<Library[]> =>
  useGetAll(isNeeded ? '/api/v1/libraries' : null)

export type LibraryNames = ReadonlyMap<string, string>

/** Names by id; empty until they are loaded. */
export const useLibraryNames = (isNeeded: boolean): LibraryNames =>
  new Map(useLibraries(isNeeded).data?.map(({ id, name }) => [id, name]))
