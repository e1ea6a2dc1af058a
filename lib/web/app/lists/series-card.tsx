// Series as a card or a line of a list.
import type { Schemas } from '../api/client.ts'
import { href } from '../routing/router.ts'
import { formatNumber, t, textOr } from '../text/translate.ts'
import { Card, type CardOptions, CardSkeleton, CoverBadge } from './card.tsx'

type SeriesCardProps = CardOptions & {
  /** Undefined while loading. */
  series: Schemas['Series'] | undefined
}

export function SeriesCard({ series, ...options }: SeriesCardProps) {
  if (!series) return <CardSkeleton isLine={options.isLine} />
  const { id, title, bookCount, unreadCount, readCount, year, publisher, status } = series
  const isRead = bookCount > 0 && unreadCount === 0
  const badge = isRead ? (
    <CoverBadge icon="check" label={t('readStatus.read')} kind="success" />
  ) : (
    unreadCount > 0 && (
      <CoverBadge
        text={formatNumber(unreadCount)}
        label={t('lists.unreadBooks', { count: unreadCount })}
      />
    )
  )
  const subtitle = [t('count.books', { count: bookCount }), year && String(year)]
  const details = (
    <>
      <span class="lists-detail ellipsis">{publisher ?? ''}</span>
      <span class="lists-detail ellipsis">{series.libraryName}</span>
      <span class="lists-detail ellipsis">
        {status && status !== 'unknown' ? textOr(`series.status.${status}`, status) : ''}
      </span>
    </>
  )
  return (
    <Card
      {...options}
      owner="series"
      id={id}
      path={href(`series/${id}`)}
      title={title}
      subtitle={subtitle.filter(Boolean).join(' · ')}
      details={details}
      badge={badge}
      progress={readCount > 0 && !isRead ? readCount / bookCount : null}
    />
  )
}
