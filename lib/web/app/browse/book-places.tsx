// Context of a book: adjacent books and reading history.
import { api, body, type Schemas } from '../api/client.ts'
import { useResource } from '../api/resource.ts'
import { BookCard } from '../lists/book-card.tsx'
import { formatDate, t } from '../text/translate.ts'

type BookProps = { book: Schemas['BookFull'] }

/** The previous and the next book of the series. */
export function AdjacentBooks({ book: { id } }: BookProps) {
  const { data } = useResource(`books/${id}/adjacent`, signal =>
    body(api.GET('/api/v1/books/{id}/adjacent', { params: { path: { id } }, signal })),
  )
  if (!data?.prev && !data?.next) return null
  const place = (title: string, book: Schemas['Book'] | null) =>
    book && (
      <div class="browse-adjacent">
        <h2>{title}</h2>
        <BookCard book={book} isLine />
      </div>
    )
  return (
    <nav class="browse-adjacents" aria-label={t('details.adjacent')}>
      {place(t('reader.previousBook'), data.prev)}
      {place(t('reader.nextBook'), data.next)}
    </nav>
  )
}

/** Dates on which the book was finished. */
export function ReadHistory({ book: { id, readCount, readProgress } }: BookProps) {
  const isNeeded = readCount > 0 || readProgress !== null
  const { data } = useResource(
    isNeeded ? `books/${id}/read-history ${readProgress?.updatedAt}` : null,
    signal =>
      body(api.GET('/api/v1/books/{id}/read-history', { params: { path: { id } }, signal })),
  )
  if (!data || data.entries.length === 0) return null
  return (
    <details class="browse-history">
      <summary>{t('details.history', { count: data.readCount })}</summary>
      <ul>
        {data.entries.map(({ startedAt, completedAt }) => (
          <li key={completedAt}>
            {t('details.historyEntry', {
              from: formatDate(startedAt),
              to: formatDate(completedAt),
            })}
          </li>
        ))}
      </ul>
    </details>
  )
}
