// The previous and next book of the series or read list, and their cards before and after a book.
import type { Schemas } from '../api/client.ts'
import { useGet } from '../api/resource.ts'
import { address, goBack, href, navigate } from '../routing/router.ts'
import { t } from '../text/translate.ts'
import { Button, ButtonLink } from '../ui/button.tsx'
import { Cover } from '../ui/cover.tsx'

type CardProps = { book: Schemas['Book'] }
type EndCardProps = CardProps & { onNext?: () => void }

/** After the last page; shared by all readers. */
export function EndCard({ book, onNext }: EndCardProps) {
  const { data, error, reload } = useAdjacentBooks(book.id)
  const next = data?.next
  return (
    <section class="reader-card" aria-label={t('reader.finishedLabel')}>
      <p class="reader-card-finished">{t('reader.finished', { title: book.title })}</p>
      {next ? (
        <BookLink book={next} onOpen={onNext} />
      ) : (
        <p>
          {data
            ? t(openedReadList() ? 'reader.lastOfList' : 'reader.lastOfSeries')
            : error
              ? t('reader.nextUnknown')
              : '…'}
        </p>
      )}
      {error && <Button icon="refresh" text={t('action.retry')} onClick={reload} />}
      <div class="reader-card-actions">
        <Button text={t('reader.close')} onClick={() => goBack(`books/${book.id}`)} />
        <ButtonLink path={`series/${book.seriesId}`} text={t('reader.openSeries')} />
      </div>
    </section>
  )
}

/** Before the first page. */
export function StartCard({ book }: CardProps) {
  const previous = useAdjacentBooks(book.id).data?.prev
  return (
    <section class="reader-card" aria-label={t('reader.startLabel')}>
      {previous && <BookLink book={previous} isPrevious />}
    </section>
  )
}

type BookLinkProps = CardProps & { isPrevious?: boolean; onOpen?: (() => void) | undefined }

function BookLink({ book, isPrevious = false, onOpen }: BookLinkProps) {
  const page = isPrevious ? Math.max(1, book.pageCount) : undefined
  // The next book replaces this one in the browser history, so that going back leaves the reader.
  const path = readerPath(book, page === undefined ? {} : { page })
  return (
    <a
      class="card reader-next"
      href={href(path)}
      onClick={(event: MouseEvent) => {
        if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return
        event.preventDefault()
        onOpen?.()
        navigate(path, { replace: true })
      }}
    >
      <div class="cover-box reader-next-cover">
        <Cover owner="books" id={book.id} />
      </div>
      <div class="reader-next-text">
        <span class="reader-next-label">{t(isPrevious ? 'reader.previous' : 'reader.next')}</span>
        <strong>{book.title}</strong>
        <span class="secondary-text">{book.seriesName}</span>
        {book.pageCount > 0 && (
          <span class="secondary-text">{t('count.pages', { count: book.pageCount })}</span>
        )}
      </div>
    </a>
  )
}

/** Id of the read list the reader was opened from. */
const openedReadList = (): string | null => address.value.query.get('readlist')

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
  const query = readListId ? { readListId } : {}
  return useGet('/api/v1/books/{id}/adjacent', { path: { id: bookId }, query })
}
