// Images of pages: loaded ahead and decoded in order of need, bounded in number, with their errors and attempts.
import { effect, type Signal, signal } from '@preact/signals'
import { ApiError, failureOf } from '../api/errors.ts'
import { connection } from '../api/events.ts'
import { accessToken, renewRefused } from '../api/session.ts'
import { t } from '../text/translate.ts'
import { pageUrl, renderedWidth } from './page-address.ts'
import type { PageInfo } from './page-layout.ts'

export type PageImage = {
  /** The latest decoded image; shown until a sharper one is decoded. */
  element: HTMLImageElement | null
  /** Why it cannot be shown; `isWaiting` while the connection is lost or the server is busy. */
  error: Error | null
  isWaiting: boolean
}
/** A page that is needed, and its width in CSS pixels. */
export type WantedPage = { page: PageInfo; width: number }

// The server renders few pages at a time, and a browser has six connections over HTTP/1.1.
const maxLoading = 3
const waitMs = 2_000
// After some attempts the reason is shown; they continue less often.
const maxAttempts = 4
const longWaitMs = 10_000

type Entry = {
  page: PageInfo
  /** Requested width in pixels; Infinity for the file as it is. */
  width: number
  image: Signal<PageImage>
  loading: HTMLImageElement | null
  loadedWidth: number
  attempts: number
  /** The browser does not display the file, and the server converts it. */
  isConverted: boolean
  retry: ReturnType<typeof setTimeout> | undefined
}

/** `onSize` is called with the dimensions of each decoded page. */
export function createPageImages(
  bookId: string,
  onSize: (number: number, image: HTMLImageElement) => void,
) {
  const entries = new Map<number, Entry>()
  const holder = createHolder()
  let order: Entry[] = []

  /** The pages that are needed, the most important first. All others are released. */
  function want(wanted: readonly WantedPage[]) {
    const numbers = new Set(wanted.map(({ page }) => page.number))
    for (const [number, entry] of entries)
      if (!numbers.has(number)) {
        release(entry)
        entries.delete(number)
      }
    order = wanted.map(({ page, width }) => {
      const entry = entryOf(page)
      chooseWidth(entry, width)
      return entry
    })
    loadNext()
  }
  function entryOf(page: PageInfo): Entry {
    const entry = entries.get(page.number) ?? newEntry(page)
    entries.set(page.number, entry)
    return entry
  }
  function loadNext() {
    let loading = order.filter(entry => entry.loading).length
    for (const entry of order) {
      if (loading >= maxLoading) return
      const { error, isWaiting } = entry.image.peek()
      if (entry.loading || error || isWaiting || entry.loadedWidth >= entry.width) continue
      void load(entry)
      loading += 1
    }
  }
  async function load(entry: Entry) {
    const { page, width } = entry
    const element = new Image()
    entry.loading = element
    holder.append(element)
    element.decoding = 'sync'
    element.draggable = false
    const url = pageUrl(bookId, page.number, Number.isFinite(width) ? width : null)
    element.src = url
    try {
      await element.decode()
      if (entry.loading !== element) return
      entry.loadedWidth = width
      entry.attempts = 0
      onSize(page.number, element)
      entry.image.value = { element, error: null, isWaiting: false }
    } catch {
      if (entry.loading === element) await fail(entry, url)
    } finally {
      if (entry.loading === element) entry.loading = null
      if (entry.image.peek().element !== element) element.remove()
    }
    loadNext()
  }
  /** The event has no reason: it comes from a request of the same address. */
  async function fail(entry: Entry, url: string) {
    const { loading } = entry
    const error = await reasonOf(url)
    if (entry.loading !== loading) return
    const delayMs = applyFailure(entry, error)
    if (delayMs !== null) entry.retry = setTimeout(() => retry(entry), delayMs)
  }
  function retry(entry: Entry) {
    clearTimeout(entry.retry)
    entry.image.value = { ...entry.image.peek(), error: null, isWaiting: false }
    loadNext()
  }
  const stopWatching = effect(() => {
    if (connection.value === 'connected')
      for (const entry of entries.values()) if (entry.image.peek().isWaiting) retry(entry)
  })
  return {
    want,
    /** The image of a page that is needed. */
    image: (page: PageInfo): Signal<PageImage> => entryOf(page).image,
    retry(number: number) {
      const entry = entries.get(number)
      if (!entry) return
      entry.attempts = 0
      retry(entry)
    },
    release() {
      stopWatching()
      for (const entry of entries.values()) release(entry)
      entries.clear()
      order = []
      holder.remove()
    },
  }
}

/** Chromium never releases images that were loaded outside the document. */
function createHolder(): HTMLElement {
  const holder = document.createElement('div')
  holder.hidden = true
  document.body.append(holder)
  return holder
}

function newEntry(page: PageInfo): Entry {
  const image = signal<PageImage>({ element: null, error: null, isWaiting: false })
  const none = { loading: null, retry: undefined, isConverted: false }
  return { page, width: 0, image, loadedWidth: 0, attempts: 0, ...none }
}

/** Changes the entry; returns the time in milliseconds after which to try again, null for none. */
function applyFailure(entry: Entry, error: ApiError): number | null {
  const { status, retryAfter } = error
  entry.attempts += 1
  if (status === 415 && !entry.isConverted) {
    entry.isConverted = true
    entry.width = Math.max(480, entry.page.width ?? 1600)
    return null
  }
  const isTemporary = [401, 429, 502, 503, 504].includes(status)
  // A lost connection is waited for, however long it takes.
  const isWaiting = status === 0 || (isTemporary && entry.attempts < maxAttempts)
  entry.image.value = { ...entry.image.peek(), error: isWaiting ? null : error, isWaiting }
  // Renewing the session again and again would not help.
  if (!isWaiting && (!isTemporary || status === 401)) return null
  const leastMs = isWaiting ? waitMs : longWaitMs
  return Math.max((retryAfter ?? 0) * 1000, leastMs)
}

/** A sharper image replaces one that is shown; a smaller one only what is not loaded yet. */
function chooseWidth(entry: Entry, cssWidth: number) {
  const width = renderedWidth(entry.page, cssWidth) ?? Number.POSITIVE_INFINITY
  if (entry.isConverted) return
  if (width > entry.width || (entry.loadedWidth === 0 && width !== entry.width)) {
    stopLoading(entry)
    entry.width = width
  }
}

function stopLoading(entry: Entry) {
  // Without its address the browser cancels the request, and the server drops the work.
  entry.loading?.removeAttribute('src')
  entry.loading?.remove()
  entry.loading = null
}

function release(entry: Entry) {
  stopLoading(entry)
  clearTimeout(entry.retry)
  entry.image.peek().element?.remove()
}

/** Throws nothing. */
async function reasonOf(url: string): Promise<ApiError> {
  // The cookie may have expired while the tab was not used.
  const token = await accessToken().catch(() => null)
  const response = await fetch(url, { cache: 'no-store' }).catch(() => null)
  if (response === null) return new ApiError(0, '')
  // The cookie is not there, or the session has ended: renewing brings it back, or leads to the sign-in.
  if (response.status === 401 && token !== null) await renewRefused(token).catch(() => null)
  if (!response.ok) return await failureOf(response)
  void response.body?.cancel()
  return new ApiError(415, t('reader.notDisplayable'))
}
