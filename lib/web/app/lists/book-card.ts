// Book as a card or a line of a list.
import type { Schemas } from '../api/client.ts'
import { href } from '../routing/router.ts'
import { formatBytes, formatRelative, t } from '../text/translate.ts'
import { h } from '../ui/h.ts'
import { bookFormat, bookProgress, bookState } from './book-state.ts'
import { Card, type CardOptions, CardSkeleton, CoverBadge } from './card.ts'

type BookCardProps = CardOptions & {
  /** Undefined while it is loading. */
  book: Schemas['Book'] | undefined
  /** With the name of its series, in lists of several series. */
  showSeries?: boolean
  /** Whether the link opens the reader. */
  toReader?: boolean
}

export function BookCard({ book, showSeries, toReader, ...options }: BookCardProps) {
  if (!book) return h(CardSkeleton, { isLine: options.isLine })
  const { id, title, seriesName, numberText, pageCount, readProgress } = book
  const state = bookState(book)
  const number = numberText && t('lists.number', { number: numberText })
  const pages =
    state === 'reading' && readProgress && pageCount > 0
      ? t('lists.pageOf', { page: readProgress.currentPage, count: pageCount })
      : pageCount > 0 && t('lists.pages', { count: pageCount })
  const subtitle = showSeries ? [number, seriesName] : [number, pages]
  const details = [
    h('span', { class: 'lists-detail', key: 'format' }, bookFormat(book)),
    h('span', { class: 'lists-detail', key: 'size' }, formatBytes(book.fileSize)),
    h(
      'span',
      { class: 'lists-detail', key: 'date' },
      readProgress ? formatRelative(readProgress.updatedAt) : '',
    ),
  ]
  return h(Card, {
    ...options,
    owner: 'books',
    id,
    path: href(toReader ? `books/${id}/read` : `books/${id}`),
    title,
    subtitle: subtitle.filter(Boolean).join(' · '),
    details,
    badge: stateBadge(state),
    progress: state === 'reading' ? bookProgress(book) : null,
    isFaded: state === 'missing',
  })
}

function stateBadge(state: ReturnType<typeof bookState>) {
  switch (state) {
    case 'read':
      return h(CoverBadge, { icon: 'check', label: t('lists.read'), kind: 'success' })
    case 'missing':
      return h(CoverBadge, { icon: 'error', label: t('lists.missing'), kind: 'danger' })
    case 'error':
      return h(CoverBadge, { icon: 'error', label: t('lists.unreadable'), kind: 'danger' })
    case 'unread':
      return h('span', { class: 'visually-hidden' }, t('lists.unread'))
    default:
      return null
  }
}
