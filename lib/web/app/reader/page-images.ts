// Page images: preloaded by priority, the nearest ones decoded, with errors and retries.
import { effect, type Signal, signal } from '@preact/signals'
import { ApiError, failureOf } from '../api/errors.ts'
import { connection } from '../api/events.ts'
import { untilReachable } from '../api/reachable.ts'
import { accessToken, renewRefused } from '../api/session.ts'
import { t } from '../text/translate.ts'
import type { PageInfo, Size } from './page-layout.ts'
import { fetchPage, pictureOf, releasePicture, renderedWidth } from './page-picture.ts'

export type PageImage = {
  /** The latest decoded image, shown until a sharper one is ready. */
  element: HTMLElement | null
  /** Error of the page; `isWaiting` while the connection is lost or the server is busy. */
  error: Error | null
  isWaiting: boolean
}
/** A needed page with its width in CSS pixels. `isNear`: shown soon, so it is decoded, too. */
export type WantedPage = { page: PageInfo; width: number; isNear: boolean }

// The server renders few pages at once, and a browser has six connections over HTTP/1.1.
const maxLoading = 3
const waitMs = 2_000
// After some attempts the reason is shown; retries become less frequent.
const maxAttempts = 4
const longWaitMs = 10_000

type Entry = {
  page: PageInfo
  /** Requested width in pixels; Infinity for the original file. */
  width: number
  /** Display width in device pixels. */
  shownWidth: number
  isNear: boolean
  image: Signal<PageImage>
  loading: AbortController | null
  /** The latest file and its requested width. */
  file: Blob | null
  loadedWidth: number
  /** Width the element was drawn at; 0 before. */
  drawnWidth: number
  attempts: number
  /** The browser cannot display the file, so the server converts it. */
  isConverted: boolean
  retry: ReturnType<typeof setTimeout> | undefined
}

/** `onSize` receives the dimensions of each decoded page. */
export function createPageImages(bookId: string, onSize: (number: number, size: Size) => void) {
  const entries = new Map<number, Entry>()
  let order: Entry[] = []

  /** Sets the needed pages, most important first. All others are released. */
  function want(wanted: readonly WantedPage[]) {
    const numbers = new Set(wanted.map(({ page }) => page.number))
    for (const [number, entry] of entries)
      if (!numbers.has(number)) {
        release(entry)
        entries.delete(number)
      }
    order = wanted.map(({ page, width, isNear }) => {
      const entry = entryOf(page)
      chooseWidth(entry, width)
      entry.isNear = isNear
      if (!isNear) releaseElement(entry)
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
      if (entry.loading || error || isWaiting || isComplete(entry)) continue
      void load(entry)
      loading += 1
    }
  }
  async function load(entry: Entry) {
    const controller = new AbortController()
    const isCurrent = () => entry.loading === controller
    entry.loading = controller
    try {
      if (entry.loadedWidth < entry.width) await fetchFile(bookId, entry, controller.signal)
      if (isCurrent() && entry.isNear) {
        const size = await draw(entry, isCurrent)
        if (size) onSize(entry.page.number, size)
      }
    } catch (error) {
      if (isCurrent()) await fail(entry, error, isCurrent)
    } finally {
      if (isCurrent()) entry.loading = null
    }
    loadNext()
  }
  async function fail(entry: Entry, error: unknown, isCurrent: () => boolean) {
    const failure = error instanceof ApiError ? error : new ApiError(0, '')
    // The cookie is missing or the session has ended: renewing restores it or leads to the sign-in.
    if (failure.status === 401) await renewSession()
    if (!isCurrent()) return
    const delayMs = applyFailure(entry, failure)
    if (delayMs === null) return
    clearTimeout(entry.retry)
    const timer = setTimeout(async () => {
      // All pages wait for the same probe.
      if (failure.status !== 429) await untilReachable()
      if (entry.retry === timer) retry(entry)
    }, delayMs)
    entry.retry = timer
  }
  function retry(entry: Entry) {
    stopWaiting(entry)
    entry.image.value = { ...entry.image.peek(), error: null, isWaiting: false }
    loadNext()
  }
  const stopWatching = effect(() => {
    if (connection.value === 'connected')
      for (const entry of entries.values()) if (entry.image.peek().isWaiting) retry(entry)
  })
  return {
    want,
    /** The image of a needed page. */
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
    },
  }
}

function newEntry(page: PageInfo): Entry {
  const image = signal<PageImage>({ element: null, error: null, isWaiting: false })
  const none = { loading: null, file: null, retry: undefined, isConverted: false, isNear: false }
  return {
    page,
    width: 0,
    shownWidth: 0,
    image,
    loadedWidth: 0,
    drawnWidth: 0,
    attempts: 0,
    ...none,
  }
}

/** Throws ApiError; status 0 without connection. */
async function fetchFile(bookId: string, entry: Entry, signal: AbortSignal) {
  const { page, width, isConverted } = entry
  const request = { bookId, page: page.number, isConverted }
  const response = await fetchPage(
    { ...request, width: Number.isFinite(width) ? width : null },
    signal,
  )
  if (!response.ok) throw await failureOf(response)
  const file = await response.blob()
  signal.throwIfAborted()
  Object.assign(entry, { file, loadedWidth: width, drawnWidth: 0 })
}

/** Draws the loaded file; returns its size in pixels, or null if it is no longer needed. Throws ApiError. */
async function draw(entry: Entry, isCurrent: () => boolean): Promise<Size | null> {
  const picture = await pictureOf(entry.file!, entry.shownWidth).catch(() => {
    entry.loadedWidth = 0
    throw new ApiError(415, t('reader.notDisplayable'))
  })
  // The reader may have moved away in the meantime.
  if (!isCurrent() || !entry.isNear) {
    releasePicture(picture.element)
    return null
  }
  const { element: previous } = entry.image.peek()
  entry.drawnWidth = picture.drawnWidth
  entry.attempts = 0
  entry.image.value = { element: picture.element, error: null, isWaiting: false }
  releasePicture(previous)
  return picture
}

const isComplete = ({ width, loadedWidth, drawnWidth, shownWidth, isNear }: Entry) =>
  loadedWidth >= width && (!isNear || drawnWidth >= shownWidth)

/** Updates the entry; returns the retry delay in milliseconds, or null. */
function applyFailure(entry: Entry, error: ApiError): number | null {
  const { status, retryAfter } = error
  entry.attempts += 1
  if (status === 415 && !entry.isConverted) {
    entry.isConverted = true
    entry.width = Math.max(480, entry.page.width ?? 1600)
    return null
  }
  const isTemporary = [401, 429, 502, 503, 504].includes(status)
  // Waits for a lost connection indefinitely.
  const isWaiting = status === 0 || (isTemporary && entry.attempts < maxAttempts)
  entry.image.value = { ...entry.image.peek(), error: isWaiting ? null : error, isWaiting }
  // Renewing the session repeatedly would not help.
  if (!isWaiting && (!isTemporary || status === 401)) return null
  const leastMs = isWaiting ? waitMs : longWaitMs
  return Math.max((retryAfter ?? 0) * 1000, leastMs)
}

/** A sharper image replaces the current one; a smaller one is loaded only if there is none yet. */
function chooseWidth(entry: Entry, cssWidth: number) {
  entry.shownWidth = Math.ceil(cssWidth * devicePixelRatio)
  const width = renderedWidth(entry.page, cssWidth) ?? Number.POSITIVE_INFINITY
  if (entry.isConverted) return
  if (width > entry.width || (entry.loadedWidth === 0 && width !== entry.width)) {
    stopLoading(entry)
    entry.width = width
  }
}

function stopLoading(entry: Entry) {
  // The server drops the work of canceled requests.
  entry.loading?.abort()
  entry.loading = null
}

function stopWaiting(entry: Entry) {
  clearTimeout(entry.retry)
  entry.retry = undefined
}

function releaseElement(entry: Entry) {
  const { element } = entry.image.peek()
  if (!element) return
  entry.drawnWidth = 0
  entry.image.value = { ...entry.image.peek(), element: null }
  releasePicture(element)
}

function release(entry: Entry) {
  stopLoading(entry)
  stopWaiting(entry)
  releaseElement(entry)
}

/** Never throws. */
async function renewSession() {
  const token = await accessToken().catch(() => null)
  if (token !== null) await renewRefused(token).catch(() => null)
}
