// Paged lists of the API as rows by index: visible pages are loaded, and requests for pages that left the view are
// aborted.
import { type Signal, signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { isTemporary, untilRetry } from '../api/reachable.ts'
import { onSignOut } from '../api/session.ts'

/** Loads a page from 1. */
type LoadPage<T> = (
  page: { page: number; pageSize: number },
  signal: AbortSignal,
) => Promise<{ data: T[]; total: number }>

export type PagedList<T> = {
  /** Null until the first page is there. */
  total: Signal<number | null>
  /** Error of the last failed request. */
  error: Signal<unknown>
  /** Grows whenever rows changed. */
  version: Signal<number>
  /** Undefined until its page is loaded. */
  row: (index: number) => T | undefined
  /** Loaded rows. */
  loaded: () => T[]
  /** Fetches up to `count` first rows without showing them. Throws ApiError. */
  first: (count: number) => Promise<T[]>
  /** Sets the visible rows. */
  show: (first: number, last: number) => void
  /** Reloads visible rows now, and all others when they come into view. */
  reload: () => void
  /** Aborts all requests. */
  stop: () => void
}

const pageSize = 100
const maxPageSize = 500
// Memory stays flat: some 2,000 records.
const maxPages = 20
// Dragging the scrollbar passes hundreds of pages.
const restMs = 80
/** Rows loaded before and after the view. */
const margin = 30

type StoredPage<T> = { rows: T[]; isStale: boolean }

function createPagedList<T>(loadPage: LoadPage<T>): PagedList<T> {
  const total = signal<number | null>(null)
  const error = signal<unknown>(null)
  const version = signal(0)
  /** By page number from 0, most recently used last. */
  const pages = new Map<number, StoredPage<T>>()
  const pending = new Map<number, AbortController>()
  let wanted: number[] = [0]
  let timer: ReturnType<typeof setTimeout> | undefined
  let waiting = ''
  /** Consecutive failures. */
  let failures = 0

  const isMissing = (page: number) => !pending.has(page) && (pages.get(page)?.isStale ?? true)

  function load(page: number) {
    const controller = new AbortController()
    pending.set(page, controller)
    loadPage({ page: page + 1, pageSize }, controller.signal)
      .then(
        result => {
          if (controller.signal.aborted) return
          pages.delete(page)
          pages.set(page, { rows: result.data, isStale: false })
          dropOldPages(pages, wanted)
          total.value = result.total
          error.value = null
          failures = 0
          version.value++
        },
        async failure => {
          if (controller.signal.aborted) return
          error.value = failure
          // Stays pending until it may be sent again.
          if (isTemporary(failure)) await untilRetry(failure, ++failures)
        },
      )
      .finally(() => {
        if (pending.get(page) !== controller) return
        pending.delete(page)
        if (isTemporary(error.value)) loadWanted()
      })
  }
  function loadWanted() {
    timer = undefined
    waiting = ''
    for (const page of wanted) if (isMissing(page)) load(page)
  }
  function abortOthers() {
    for (const [page, controller] of pending)
      if (!wanted.includes(page)) {
        controller.abort()
        pending.delete(page)
      }
  }
  return {
    total,
    error,
    version,
    row: index => pages.get(Math.floor(index / pageSize))?.rows[index % pageSize],
    loaded: () => [...pages.values()].flatMap(({ rows }) => rows),
    first: count => firstRows(loadPage, count),
    show(first, last) {
      const end = Math.max(0, (total.value ?? 1) - 1)
      const from = Math.floor(Math.max(0, first - margin) / pageSize)
      const to = Math.floor(Math.min(end, last + margin) / pageSize)
      wanted = Array.from({ length: Math.max(1, to - from + 1) }, (_, i) => from + i)
      abortOthers()
      const missing = wanted.filter(isMissing).join()
      if (missing === waiting) return
      waiting = missing
      clearTimeout(timer)
      if (missing === '') return
      if (total.value === null) loadWanted()
      else timer = setTimeout(loadWanted, restMs)
    },
    reload() {
      for (const page of pages.values()) page.isStale = true
      error.value = null
      for (const controller of pending.values()) controller.abort()
      pending.clear()
      loadWanted()
    },
    stop() {
      clearTimeout(timer)
      timer = undefined
      waiting = ''
      for (const controller of pending.values()) controller.abort()
      pending.clear()
    },
  }
}

async function firstRows<T>(loadPage: LoadPage<T>, count: number): Promise<T[]> {
  const { signal } = new AbortController()
  const rows: T[] = []
  for (let page = 1; rows.length < count; page++) {
    const { data } = await loadPage({ page, pageSize: maxPageSize }, signal)
    rows.push(...data)
    if (data.length < maxPageSize) break
  }
  return rows.slice(0, count)
}

function dropOldPages(pages: Map<number, unknown>, wanted: readonly number[]) {
  for (const page of pages.keys()) {
    if (pages.size <= maxPages) return
    if (!wanted.includes(page)) pages.delete(page)
  }
}

const maxLists = 6
/** Recent lists by key, shown immediately on going back. */
const lists = new Map<string, PagedList<unknown>>()
onSignOut(() => lists.clear())

/** The list of a key, which identifies path and parameters. A known list is shown at once and reloaded. */
export function usePagedList<T>(key: string, loadPage: LoadPage<T>): PagedList<T> {
  let list = lists.get(key) as PagedList<T> | undefined
  if (list) lists.delete(key)
  else list = createPagedList(loadPage)
  lists.set(key, list as PagedList<unknown>)
  if (lists.size > maxLists) lists.delete(lists.keys().next().value!)
  const shown = list
  useEffect(() => {
    shown.reload()
    return () => shown.stop()
  }, [shown])
  return shown
}

/** Call after rows moved: drops the same list in other orders (the key after `?`), which would be outdated. */
export function forgetOtherOrders<T>(list: PagedList<T>): void {
  const pathOf = (key: string) => key.split('?')[0]
  const [shown = ''] = [...lists].find(([, stored]) => stored === list) ?? []
  for (const key of lists.keys())
    if (key !== shown && pathOf(key) === pathOf(shown)) lists.delete(key)
}
