// Book as a card or a line of a list.
import type { Schemas } from '../api/client.ts'
import { href } from '../routing/router.ts'
import { formatBytes, formatRelative, t } from '../text/translate.ts'
import { bookFormat, bookProgress, bookState } from './book-state.ts'
import { Card, type CardOptions, CardSkeleton, CoverBadge } from './card.tsx'

type BookCardProps = CardOptions & {
  /** Undefined while loading. */
  book: Schemas['Book'] | undefined
  /** Shows the series name, for lists of several series. */
  showSeries?: boolean
  /** Whether the link opens the reader. */
  toReader?: boolean
}

export function BookCard({ book, showSeries, toReader, ...options }: BookCardProps) {
  if (!book) return <CardSkeleton isLine={options.isLine} />
  const { id, title, seriesName, numberText, pageCount, readProgress } = book
  const state = bookState(book)
  const number = numberText && t('lists.number', { number: numberText })
  const pages =
    state === 'reading' && readProgress && pageCount > 0
      ? t('lists.pageOf', { page: readProgress.currentPage, count: pageCount })
      : pageCount > 0 && t('count.pages', { count: pageCount })
  const subtitle = showSeries ? [number, seriesName] : [number, pages]
  const details = (
    <>
      <span class="lists-detail ellipsis">{bookFormat(book)}</span>
      <span class="lists-detail ellipsis">{formatBytes(book.fileSize)}</span>
      <span class="lists-detail ellipsis">
        {readProgress ? formatRelative(readProgress.updatedAt) : ''}
      </span>
    </>
  )
  return (
    <Card
      {...options}
      owner="books"
      id={id}
      path={href(toReader ? `books/${id}/read` : `books/${id}`)}
      title={title}
      subtitle={subtitle.filter(Boolean).join(' · ')}
      details={details}
      badge={stateBadge(state)}
      progress={state === 'reading' ? bookProgress(book) : null}
      isFaded={state === 'missing'}
    />
  )
}

function stateBadge(state: ReturnType<typeof bookState>) {
  switch (state) {
    case 'read':
      return <CoverBadge icon="check" label={t('readStatus.read')} kind="success" />
    case 'missing':
      return <CoverBadge icon="error" label={t('lists.missing')} kind="danger" />
    case 'error':
      return <CoverBadge icon="error" label={t('lists.unreadable')} kind="danger" />
    case 'unread':
      return <span class="visually-hidden">{t('readStatus.unread')}</span>
    default:
      return null
  }
}
