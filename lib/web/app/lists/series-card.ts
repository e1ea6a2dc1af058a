// Series as a card or a line of a list.
import type { Schemas } from '../api/client.ts'
import { href } from '../routing/router.ts'
import { formatNumber, t, textOr } from '../text/translate.ts'
import { h } from '../ui/h.ts'
import { Card, type CardOptions, CardSkeleton, CoverBadge } from './card.ts'

type SeriesCardProps = CardOptions & {
  /** Undefined while it is loading. */
  series: Schemas['Series'] | undefined
}

export function SeriesCard({ series, ...options }: SeriesCardProps) {
  if (!series) return h(CardSkeleton, { isLine: options.isLine })
  const { id, title, bookCount, unreadCount, readCount, year, publisher, status } = series
  const isRead = bookCount > 0 && unreadCount === 0
  const badge = isRead
    ? h(CoverBadge, { icon: 'check', label: t('lists.read'), kind: 'success' })
    : unreadCount > 0 &&
      h(CoverBadge, {
        text: formatNumber(unreadCount),
        label: t('lists.unreadBooks', { count: unreadCount }),
      })
  const subtitle = [t('lists.books', { count: bookCount }), year && String(year)]
  const details = [
    h('span', { class: 'lists-detail', key: 'publisher' }, publisher ?? ''),
    h('span', { class: 'lists-detail', key: 'library' }, series.libraryName),
    h(
      'span',
      { class: 'lists-detail', key: 'status' },
      status && status !== 'unknown' ? textOr(`series.status.${status}`, status) : '',
    ),
  ]
  return h(Card, {
    ...options,
    owner: 'series',
    id,
    path: href(`series/${id}`),
    title,
    subtitle: subtitle.filter(Boolean).join(' · '),
    details,
    badge,
    progress: readCount > 0 && !isRead ? readCount / bookCount : null,
  })
}
