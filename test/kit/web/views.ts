// Views of the web application by their addresses, and navigation among them without loading the page again.
import type { Page } from 'playwright-core'
import type { TestLibrary } from '../library.ts'
import type { App } from './app.ts'

type Ids = {
  library: Pick<TestLibrary, 'id'>
  seriesIds: readonly string[]
  bookIds: readonly string[]
  /** Ids, where there are such. */
  collection?: string
  readList?: string
  user?: string
}

/** Gives the views of an application with the books `comic`, `pdf` and `novel` something to show, and returns the ids. */
export async function fillViews({ admin, reader, books, library }: App): Promise<Ids> {
  const [seriesIds, bookIds] = [[books.comic.seriesId], [books.comic.id]]
  const collection = await admin.post('/collections', { name: 'Favourites', seriesIds })
  const readList = await admin.post('/readlists', { name: 'In order', bookIds })
  await admin.post('/want-to-read/bulk', { seriesIds, bookIds: [books.pdf.id] })
  await admin.put(`/books/${books.comic.id}/progress`, { currentPage: 3 })
  await admin.put(`/books/${books.novel.id}/progress`, { currentPage: 4, completed: true })
  const [collectionId, readListId] = [collection.body.id, readList.body.id]
  return {
    library,
    seriesIds,
    bookIds,
    collection: collectionId,
    readList: readListId,
    user: reader.id,
  }
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
