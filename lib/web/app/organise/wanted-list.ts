// Entries of the want-to-read list with their series and books, which the API lists apart.
import { api, body, type Schemas } from '../api/client.ts'
import { ApiError } from '../api/errors.ts'

export type Wanted = {
  entry: Schemas['WantToReadEntry']
  series?: Schemas['Series'] | undefined
  book?: Schemas['Book'] | undefined
}

export const wantedSorts = ['newest', 'oldest', 'custom'] as const
export type WantedSort = (typeof wantedSorts)[number]

const maxKnown = 500

type Page = { page: number; pageSize: number }

/** Loads pages of the list; the first one brings the records of most lists in two requests. */
export function createWantedLoader(sort: WantedSort) {
  const series = new Map<string, Schemas['Series']>()
  const books = new Map<string, Schemas['Book']>()
  return async (page: Page, signal: AbortSignal): Promise<{ data: Wanted[]; total: number }> => {
    const [{ data, total }, [foundSeries, foundBooks]] = await Promise.all([
      listEntries({ ...page, sort }, signal),
      page.page === 1 ? loadKnown(signal) : [[], []],
    ])
    for (const row of foundSeries) series.set(row.id, row)
    for (const row of foundBooks) books.set(row.id, row)
    await Promise.all(
      data.map(async ({ seriesId, bookId }) => {
        if (seriesId && !series.has(seriesId)) await loadSeries(seriesId, { series, signal })
        if (bookId && !books.has(bookId)) await loadBook(bookId, { books, signal })
      }),
    )
    const wanted = data.map(entry => ({
      entry,
      series: entry.seriesId ? series.get(entry.seriesId) : undefined,
      book: entry.bookId ? books.get(entry.bookId) : undefined,
    }))
    return { data: wanted, total }
  }
}

async function listEntries(query: Page & { sort: WantedSort }, signal?: AbortSignal) {
  const init = { params: { query }, ...(signal && { signal }) }
  const page = await body(api.GET('/api/v1/want-to-read', init))
  return page as Schemas['WantToReadEntryPage']
}

async function loadKnown(signal: AbortSignal) {
  const wanted = { wantToRead: { operator: 'isTrue' } } as const
  const init = {
    params: { query: { page: 1, pageSize: maxKnown } },
    body: { condition: wanted },
    signal,
  }
  const [series, books] = await Promise.all([
    body<unknown>(api.POST('/api/v1/series/list', init)),
    body(api.POST('/api/v1/books/list', init)),
  ])
  return [(series as { data: Schemas['Series'][] }).data, books.data] as const
}

type SeriesOptions = { series: Map<string, Schemas['Series']>; signal: AbortSignal }

async function loadSeries(id: string, { series, signal }: SeriesOptions) {
  const row = await body<unknown>(
    api.GET('/api/v1/series/{id}', { params: { path: { id } }, signal }),
  ).catch(ignoreMissing)
  if (row) series.set(id, row as Schemas['Series'])
}

type BookOptions = { books: Map<string, Schemas['Book']>; signal: AbortSignal }

async function loadBook(id: string, { books, signal }: BookOptions) {
  const row = await body<unknown>(
    api.GET('/api/v1/books/{id}', { params: { path: { id } }, signal }),
  ).catch(ignoreMissing)
  if (row) books.set(id, row as Schemas['Book'])
}

/** Records may be deleted or hidden while the list is loaded. */
function ignoreMissing(error: unknown): null {
  if (error instanceof ApiError && error.status === 404) return null
  throw error
}

/** Moves an entry of the order by hand. Throws ApiError. */
export async function orderWanted(from: number, to: number): Promise<void> {
  const last = Math.max(from, to)
  const pageSize = 500
  const ids: string[] = []
  for (let page = 1; ids.length <= last; page++) {
    const { data, totalPages } = await listEntries({ page, pageSize, sort: 'custom' })
    ids.push(...data.map(({ id }) => id))
    if (page >= totalPages) break
  }
  ids.length = Math.min(ids.length, last + 1)
  const [moved] = ids.splice(from, 1)
  ids.splice(to, 0, moved!)
  await api.PUT('/api/v1/want-to-read/order', { body: { entryIds: ids } })
}
