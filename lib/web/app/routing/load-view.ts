// Views of the application with their addresses, and loading of their modules and style sheets.
import type { FunctionComponent } from 'preact'
import { basePath } from '../api/address.ts'
import { assets, assetUrl } from '../api/assets.ts'
import type { Permission } from '../api/session.ts'
import { readStorage, writeStorage } from '../api/storage.ts'

export type Route = {
  /** Path with `:name` for one segment. */
  pattern: string
  load: () => Promise<{ View: FunctionComponent<ViewProps> }>
  /** Style sheets of the view, below the folder of the application. */
  styles?: readonly string[]
  /** `plain`: without navigation, for readers and sign-in. */
  frame?: 'plain'
  /** `public`: also when signed out. Otherwise the required permission, if any. */
  access?: 'public' | Permission
}

/** Values of the `:name` parts of the route's pattern. */
export type ViewProps = { params: Record<string, string> }

const loadedStyles = new Map<string, Promise<void>>()
const loadedViews = new Map<Route, FunctionComponent<ViewProps>>()

/** An already loaded view. */
export const loadedView = (route: Route) => loadedViews.get(route) ?? null

/** Throws if a file cannot be loaded. After a server upgrade, reloads the page instead. */
export async function loadView(route: Route): Promise<FunctionComponent<ViewProps>> {
  const { View } = await loadPart(route.load, route.styles)
  loadedViews.set(route, View)
  return View
}

/** A module and its style sheets, like `loadView`. */
export async function loadPart<T>(
  load: () => Promise<T>,
  styles: readonly string[] = [],
): Promise<T> {
  try {
    const [part] = await Promise.all([load(), ...styles.map(loadStyles)])
    return part
  } catch (error) {
    await reloadIfReplaced()
    throw error
  }
}

/** Called after a failed load: after a server upgrade, reloads the page. */
export async function reloadIfReplaced(): Promise<void> {
  if (await isReplaced()) location.reload()
}

const reloadedKey = 'stackroom.reloaded'

/** Whether the server was upgraded since the page was loaded; at most once a minute, in case servers differ. */
async function isReplaced(): Promise<boolean> {
  const reloadedAt = Number(readStorage(reloadedKey, 'sessionStorage') ?? 0)
  if (Date.now() - reloadedAt < 60_000) return false
  try {
    const response = await fetch(`${basePath}/manifest.webmanifest`)
    const text = await response.text()
    if (!response.ok || text.includes(assets.pathname)) return false
  } catch {
    return false
  }
  writeStorage(reloadedKey, String(Date.now()), 'sessionStorage')
  return true
}

/** Loads a style sheet such as `reader/reader.css` once. Throws if it cannot be loaded. */
function loadStyles(path: string): Promise<void> {
  let loading = loadedStyles.get(path)
  if (!loading) {
    loading = new Promise<void>((resolve, reject) => {
      const link = document.createElement('link')
      link.rel = 'stylesheet'
      link.href = assetUrl(path)
      link.onload = () => resolve()
      link.onerror = () => {
        link.remove()
        loadedStyles.delete(path)
        reject(new Error(`${path} cannot be loaded`))
      }
      document.head.append(link)
    })
    loadedStyles.set(path, loading)
  }
  return loading
}
