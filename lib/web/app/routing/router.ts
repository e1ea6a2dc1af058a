// Router of the application: the current address as a signal, links without page loads, scroll positions on going back.
import { signal } from '@preact/signals'
import { basePath } from '../api/address.ts'
import { discardBefore, discarding, hasUnsaved } from './unsaved.ts'

export type Address = {
  /** Path below the base path, without slashes at its ends: empty, or `series/…`. */
  path: string
  query: URLSearchParams
}

/** The current address. */
export const address = signal<Address>(currentAddress())

type HistoryEntry = { key: string; depth?: number } | null
let entryKey = newEntryKey()
/** Number of entries of the application before this one in the history. */
let depth = 0
type ViewPosition = {
  /** Scroll position in pixels. */
  top: number
  /** Address of the link that had the focus. */
  link: string | undefined
}
/** Scroll position and focus by history entry. */
const places = new Map<string, ViewPosition>()

function currentAddress(): Address {
  const { pathname, search } = window.location
  const path = decoded(pathname.slice(basePath.length)).replace(/^\/+|\/+$/g, '')
  return { path, query: new URLSearchParams(search) }
}

/** External links may contain stray percent signs. */
function decoded(path: string): string {
  try {
    return decodeURI(path)
  } catch {
    return path
  }
}

function newEntryKey(): string {
  return Math.random().toString(36).slice(2)
}

/** Absolute address of a path such as `series/…?tab=books`, for links and `navigate`. */
export const href = (path: string): string => `${basePath}/${path.replace(/^\/+/, '')}`

/** Opens a path of the application, such as `series/…`. `replace`: without a new history entry. */
export function navigate(path: string, { replace = false } = {}) {
  savePlace()
  if (!replace) {
    entryKey = newEntryKey()
    depth += 1
  }
  history[replace ? 'replaceState' : 'pushState']({ key: entryKey, depth }, '', href(path))
  address.value = currentAddress()
  if (!replace) scrollTo(0, 0)
}

/** Opens a path like a link: unsaved edits must be confirmed first. */
export function follow(path: string, options?: { replace?: boolean }) {
  const isSameView = path.split('?', 1)[0] === address.value.path
  if (isSameView) navigate(path, options)
  else discardBefore(() => navigate(path, options))
}

/** Leaves a view: back to the previous page of the application, otherwise to `path`. */
export function goBack(path: string) {
  if (depth > 0) history.back()
  else navigate(path, { replace: true })
}

/** Changes parameters of the current address; null removes one. Used for filters and sort orders. */
export function setQuery(
  changes: Record<string, string | null>,
  { replace = false }: { replace?: boolean } = {},
) {
  const query = new URLSearchParams(address.value.query)
  for (const [name, value] of Object.entries(changes))
    if (value === null || value === '') query.delete(name)
    else query.set(name, value)
  const text = query.toString()
  navigate(address.value.path + (text && `?${text}`), { replace })
}

function savePlace() {
  const link = document.activeElement?.closest<HTMLAnchorElement>('main a')?.href
  places.set(entryKey, { top: scrollY, link })
}

/** Restores the scroll position of the history entry once the view is high enough, and the focus of its link. */
function restorePlace() {
  const { top, link } = places.get(entryKey) ?? { top: 0, link: undefined }
  const deadline = performance.now() + 2_000
  let isScrolled = false
  let isFocused = link === undefined
  const attempt = () => {
    if (!isScrolled) scrollTo(0, top)
    isScrolled ||= Math.abs(scrollY - top) <= 2
    isFocused ||= focusLink(link!)
    if (!(isScrolled && isFocused) && performance.now() < deadline) requestAnimationFrame(attempt)
  }
  requestAnimationFrame(attempt)
}

/** Whether the focus is already right: at the link, or moved by the reader in the meantime. */
function focusLink(address: string): boolean {
  if (!document.activeElement?.matches('body, main')) return true
  const links = document.querySelectorAll<HTMLAnchorElement>('main a')
  const link = [...links].find(({ href }) => href === address)
  link?.focus({ preventScroll: true })
  return link !== undefined
}

function restoreEntry(state: HistoryEntry) {
  entryKey = state?.key ?? newEntryKey()
  depth = state?.depth ?? 0
}

/** Starts the router. Links (`<a href="series/…">`, relative to the base) do not load a page. */
export function startRouter() {
  history.scrollRestoration = 'manual'
  restoreEntry(history.state)
  history.replaceState({ key: entryKey, depth }, '')
  addEventListener('popstate', ({ state }: PopStateEvent) => {
    if (isStaying(state)) return
    savePlace()
    restoreEntry(state)
    address.value = currentAddress()
    restorePlace()
  })
  document.addEventListener('click', event => {
    const path = internalPath(event)
    if (path === null) return
    event.preventDefault()
    follow(path)
  })
}

/** Going back and forward happens before it can be confirmed. */
let isReturning = false
let isDiscarding = false

/** Whether the view stays because of unsaved edits. The history step is undone, and repeated if they are discarded. */
function isStaying(state: HistoryEntry): boolean {
  const steps = (state?.depth ?? depth) - depth
  const isOwn = isReturning
  isReturning = false
  if (isOwn) return true
  if (
    isDiscarding ||
    steps === 0 ||
    !hasUnsaved() ||
    currentAddress().path === address.value.path
  ) {
    isDiscarding = false
    return false
  }
  isReturning = true
  history.go(-steps)
  discarding.value = () => {
    isDiscarding = true
    history.go(steps)
  }
  return true
}

/** The path of a click on a link of the application; null for all other clicks. */
function internalPath(event: MouseEvent): string | null {
  if (event.defaultPrevented || event.button !== 0) return null
  if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return null
  const link = (event.target as Element).closest('a')
  if (!link?.href || link.hasAttribute('download') || (link.target && link.target !== '_self'))
    return null
  const path = pathOfUrl(link.href)
  return path === null || /^(?:api|opds|docs)(?:[/?]|$)/.test(path) ? null : path
}

/** The path of a URL of the application, with its parameters, for `navigate`; null for any other URL. */
export function pathOfUrl(url: string): string | null {
  if (!URL.canParse(url, document.baseURI)) return null
  const { origin, pathname, search } = new URL(url, document.baseURI)
  if (origin !== window.location.origin || !`${pathname}/`.startsWith(`${basePath}/`)) return null
  return pathname.slice(basePath.length + 1) + search
}
