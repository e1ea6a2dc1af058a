// Books before and after the one that is read: of its series, or of the read list that it was opened from.
import { api, body, type Schemas } from '../api/client.ts'
import { useResource } from '../api/resource.ts'
import { address } from '../routing/router.ts'

/** Id of the read list from which the reader was opened. */
export const openedReadList = (): string | null => address.value.query.get('readlist')

/** Path of the reader of a book in the same read list. `page`: otherwise where it was left. */
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
