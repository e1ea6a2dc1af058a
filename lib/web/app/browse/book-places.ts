// Where a book stands: the books before and after it, and when it was read.
import { api, body, type Schemas } from '../api/client.ts'
import { useResource } from '../api/resource.ts'
import { BookCard } from '../lists/book-card.ts'
import { formatDate, t } from '../text/translate.ts'
import { h } from '../ui/h.ts'

type BookProps = { book: Schemas['BookFull'] }

/** The previous and the next book of the series. */
export function AdjacentBooks({ book: { id } }: BookProps) {
  const { data } = useResource(`books/${id}/adjacent`, signal =>
    body(api.GET('/api/v1/books/{id}/adjacent', { params: { path: { id } }, signal })),
  )
  if (!data?.prev && !data?.next) return null
  const place = (title: string, book: Schemas['Book'] | null) =>
    book &&
    h(
      'div',
      { class: 'browse-adjacent' },
      h('h2', null, title),
      h(BookCard, { book, isLine: true }),
    )
  return h(
    'nav',
    { class: 'browse-adjacents', 'aria-label': t('details.adjacent') },
    place(t('details.previous'), data.prev),
    place(t('details.next'), data.next),
  )
}

/** Dates on which the book was read to its end. */
export function ReadHistory({ book: { id, readCount, readProgress } }: BookProps) {
  const isNeeded = readCount > 0 || readProgress !== null
  const { data } = useResource(
    isNeeded ? `books/${id}/read-history ${readProgress?.updatedAt}` : null,
    signal =>
      body(api.GET('/api/v1/books/{id}/read-history', { params: { path: { id } }, signal })),
  )
  if (!data || data.entries.length === 0) return null
  return h(
    'details',
    { class: 'browse-history' },
    h('summary', null, t('details.history', { count: data.readCount })),
    h(
      'ul',
      null,
      data.entries.map(({ startedAt, completedAt }) =>
        h(
          'li',
          { key: completedAt },
          t('details.historyEntry', { from: formatDate(startedAt), to: formatDate(completedAt) }),
        ),
      ),
    ),
  )
}
