// Previous and next book in the series, or in the read list the book was opened from.
import { api, body, type Schemas } from '../api/client.ts'
import { useResource } from '../api/resource.ts'
import { address } from '../routing/router.ts'

/** Id of the read list the reader was opened from. */
export const openedReadList = (): string | null => address.value.query.get('readlist')

/** Reader path of a book in the same read list. `page`: defaults to the stored position. */
export function readerPath(book: Schemas['Book'], { page }: { page?: number } = {}): string {
  const query = new URLSearchParams()
  const readListId = openedReadList()
  if (readListId) query.set('readlist', readListId)
  if (page !== undefined) query.set('page', String(page))
  const text = query.toString()
  return `books/${book.id}/read${text && `?${text}`}`
}

export function useAdjacentBooks(bookId: string) {
  const readListId = openedReadList()
  const load = (signal: AbortSignal) =>
    body(
      api.GET('/api/v1/books/{id}/adjacent', {
        params: { path: { id: bookId }, query: readListId ? { readListId } : {} },
        signal,
      }),
    )
  return useResource(`adjacent:${bookId}:${readListId}`, load)
}
