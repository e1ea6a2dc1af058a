// Cards and lines of series and books: cover, title, state, and the box to select them.
import type { ComponentChildren } from 'preact'
import type { Schemas } from '../api/client.ts'
import { href } from '../routing/router.ts'
import { formatBytes, formatNumber, formatRelative, t, textOr } from '../text/translate.ts'
import { Cover, type CoverOwner } from '../ui/cover.tsx'
import { Icon, type IconName } from '../ui/icon.tsx'
import type { Selection } from './selection-bar.tsx'

type CardOptions = {
  selection?: Selection | undefined
  tabIndex?: number
  /** Renders a line with a small cover instead of a card. */
  isLine?: boolean
}

type CardProps = CardOptions & {
  owner: CoverOwner
  id: string
  path: string
  title: string
  subtitle: ComponentChildren
  /** More columns of a line. */
  details?: ComponentChildren
  /** Badge at the end of the cover. */
  badge?: ComponentChildren
  /** From 0 to 1; null for none. */
  progress?: number | null
  isFaded?: boolean
  /** Changes with the cover, for covers without events. */
  coverVersion?: number
}

export function Card(props: CardProps) {
  const { owner, id, path, title, subtitle, details, badge, progress, isFaded } = props
  const { selection, tabIndex, isLine } = props
  const isSelected = selection?.ids.value.has(id) ?? false
  const isSelecting = (selection?.ids.value.size ?? 0) > 0
  const classes = [
    isLine ? 'lists-line' : 'lists-card',
    isSelected && 'selected',
    isSelecting && 'selecting',
    isFaded && 'faded',
  ]
  const toggleInstead = (event: MouseEvent) => {
    if (!isSelecting || event.ctrlKey || event.metaKey) return
    event.preventDefault()
    selection?.toggle(id)
  }
  return (
    <div class={classes.filter(Boolean).join(' ')}>
      <a
        class="lists-link"
        href={path}
        tabIndex={tabIndex}
        onClick={toggleInstead}
        draggable={false}
      >
        <span class="lists-cover">
          <Cover
            owner={owner}
            id={id}
            {...(props.coverVersion && { version: props.coverVersion })}
          />
          {badge}
          {progress != null && <ProgressLine value={progress} />}
        </span>
        <span class="lists-text">
          <span class="lists-title clamp" dir="auto">
            {title}
          </span>
          <span class="lists-subtitle ellipsis">{subtitle}</span>
        </span>
        {isLine && details}
      </a>
      {selection && (
        <label class="lists-select">
          <input
            type="checkbox"
            checked={isSelected}
            tabIndex={tabIndex}
            aria-label={t('lists.select', { title })}
            onChange={() => selection.toggle(id)}
          />
        </label>
      )}
    </div>
  )
}

function ProgressLine({ value }: { value: number }) {
  const percent = Math.round(Math.min(1, Math.max(0, value)) * 100)
  return (
    <span class="lists-progress">
      <span style={{ width: `${percent}%` }} />
      <span class="visually-hidden">{t('lists.progress', { percent })}</span>
    </span>
  )
}

type CoverBadgeProps = {
  icon?: IconName
  text?: string
  label: string
  kind?: 'accent' | 'danger' | 'success'
}

/** A mark on a cover: a number or an icon, with a description for screen readers. */
export function CoverBadge({ icon, text, label, kind = 'accent' }: CoverBadgeProps) {
  return (
    <span class={`lists-badge ${kind}`} title={label}>
      {icon && <Icon name={icon} size={14} />}
      {text && <span aria-hidden>{text}</span>}
      <span class="visually-hidden">{label}</span>
    </span>
  )
}

/** Placeholder of a loading card. */
export function CardSkeleton({ isLine }: { isLine?: boolean | undefined }) {
  return (
    <div class={`${isLine ? 'lists-line' : 'lists-card'} loading`} aria-hidden>
      <span class="lists-link">
        <span class="lists-cover" />
        <span class="lists-text">
          <span class="lists-title clamp" />
          <span class="lists-subtitle" />
        </span>
      </span>
    </div>
  )
}

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

type BookFields = Pick<
  Schemas['Book'],
  'deleted' | 'errorCode' | 'readProgress' | 'pageCount' | 'fileFormat'
>
type BookState = 'unread' | 'reading' | 'read' | 'missing' | 'error'

export function bookState({ deleted, errorCode, readProgress }: BookFields): BookState {
  if (deleted) return 'missing'
  if (errorCode !== null) return 'error'
  if (!readProgress) return 'unread'
  return readProgress.completed ? 'read' : 'reading'
}

/** From 0 to 1. */
export function bookProgress({ readProgress, pageCount }: BookFields): number {
  if (!readProgress) return 0
  if (readProgress.completed) return 1
  if (readProgress.progressPercentage != null) return readProgress.progressPercentage
  return pageCount > 0 ? readProgress.currentPage / pageCount : 0
}

export const bookFormat = ({ fileFormat }: BookFields): string => fileFormat.toUpperCase()

/** Whether the reader can open it. */
export const isReadable = ({ deleted, errorCode, fileFormat, pageCount }: BookFields): boolean =>
  !deleted && errorCode === null && (pageCount > 0 || fileFormat === 'epub')
