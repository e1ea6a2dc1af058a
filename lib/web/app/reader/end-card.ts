// What is before and after a book: the previous and the next one, of the series or the read list.
import type { Schemas } from '../api/client.ts'
import { goBack, href, navigate } from '../routing/router.ts'
import { t } from '../text/translate.ts'
import { Button } from '../ui/button.ts'
import { Cover } from '../ui/cover.ts'
import { h } from '../ui/h.ts'
import { openedReadList, readerPath, useAdjacentBooks } from './adjacent-books.ts'

type CardProps = { book: Schemas['Book'] }
type EndCardProps = CardProps & { onNext?: () => void }

/** After the last page; of all readers. */
export function EndCard({ book, onNext }: EndCardProps) {
  const { data, error, reload } = useAdjacentBooks(book.id)
  const next = data?.next
  return h(
    'section',
    { class: 'reader-card', 'aria-label': t('reader.finishedLabel') },
    h('p', { class: 'reader-card-finished' }, t('reader.finished', { title: book.title })),
    next
      ? h(BookLink, { book: next, onOpen: onNext })
      : h(
          'p',
          null,
          data
            ? t(openedReadList() ? 'reader.lastOfList' : 'reader.lastOfSeries')
            : error
              ? t('reader.nextUnknown')
              : '…',
        ),
    error && h(Button, { icon: 'refresh', onClick: reload }, t('action.retry')),
    h(
      'div',
      { class: 'reader-card-actions' },
      h(Button, { onClick: () => goBack(`books/${book.id}`) }, t('reader.close')),
      h('a', { class: 'button', href: href(`series/${book.seriesId}`) }, t('reader.openSeries')),
    ),
  )
}

/** Before the first page. */
export function StartCard({ book }: CardProps) {
  const previous = useAdjacentBooks(book.id).data?.prev
  return h(
    'section',
    { class: 'reader-card', 'aria-label': t('reader.startLabel') },
    previous && h(BookLink, { book: previous, isPrevious: true }),
  )
}

type BookLinkProps = CardProps & { isPrevious?: boolean; onOpen?: (() => void) | undefined }

function BookLink({ book, isPrevious = false, onOpen }: BookLinkProps) {
  const page = isPrevious ? Math.max(1, book.pageCount) : undefined
  // The next book replaces this one in the history: going back leaves the reader.
  const path = readerPath(book, page === undefined ? {} : { page })
  return h(
    'a',
    {
      class: 'reader-next',
      href: href(path),
      onClick: (event: MouseEvent) => {
        if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return
        event.preventDefault()
        onOpen?.()
        navigate(path, { replace: true })
      },
    },
    h('div', { class: 'reader-next-cover' }, h(Cover, { owner: 'books', id: book.id })),
    h(
      'div',
      { class: 'reader-next-text' },
      h('span', { class: 'reader-next-label' }, t(isPrevious ? 'reader.previous' : 'reader.next')),
      h('strong', null, book.title),
      h('span', { class: 'secondary-text' }, book.seriesName),
      book.pageCount > 0 &&
        h('span', { class: 'secondary-text' }, t('reader.pages', { count: book.pageCount })),
    ),
  )
}
