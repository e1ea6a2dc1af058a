// Views of the web application by their addresses, and navigation among them without loading the page again.
import type { Page } from 'playwright-core'
import type { TestLibrary } from '../library.ts'

type Ids = {
  library: Pick<TestLibrary, 'id'>
  seriesIds: readonly string[]
  bookIds: readonly string[]
  /** Ids, where there are such. */
  collection?: string
  readList?: string
  user?: string
}

/** Paths of all views for readers. The readers of books are not among them. */
export const readerViews = ({ library, seriesIds, bookIds, collection, readList }: Ids) => [
  '/',
  '/libraries',
  `/libraries/${library.id}`,
  '/series',
  '/books',
  '/recently-read',
  '/people',
  '/genres',
  '/tags',
  '/publishers',
  ...seriesIds.map(id => `/series/${id}`),
  ...bookIds.map(id => `/books/${id}`),
  '/search?q=a',
  '/collections',
  ...(collection ? [`/collections/${collection}`] : []),
  '/readlists',
  ...(readList ? [`/readlists/${readList}`] : []),
  '/want-to-read',
  '/statistics',
  '/account',
  '/account/keys',
]

/** Paths of all views of administrators. */
export const adminViews = ({ library, user }: Ids) => [
  '/admin',
  '/admin/libraries',
  `/admin/libraries/${library.id}`,
  '/admin/tasks',
  '/admin/errors',
  '/admin/duplicates',
  '/admin/users',
  ...(user ? [`/admin/users/${user}`] : []),
  '/admin/settings',
  '/admin/health',
]

/** Follows a link to a path, and waits until its view has what it shows at first. */
export async function visit(page: Page, path: string): Promise<void> {
  const state = `{ key: ${JSON.stringify(path)} }`
  await page.evaluate(`history.pushState(${state}, '', document.baseURI.replace(/\\/$/, '') + ${JSON.stringify(path)})
    dispatchEvent(new PopStateEvent('popstate', { state: ${state} }))
    new Promise(resolve => requestAnimationFrame(() => requestAnimationFrame(() => resolve(true))))`)
  await page.locator('main').first().waitFor()
  await page.locator('[aria-busy=true]').first().waitFor({ state: 'detached' })
}
