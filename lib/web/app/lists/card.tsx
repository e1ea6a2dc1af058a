// Card and line of a series or book: cover, title, state, and the box to select it.
import type { ComponentChildren } from 'preact'
import { t } from '../text/translate.ts'
import { Cover, type CoverOwner } from '../ui/cover.tsx'
import { Icon, type IconName } from '../ui/icon.tsx'
import type { Selection } from './selection.ts'

export type CardOptions = {
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
          <span class="lists-title" dir="auto">
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
          <span class="lists-title" />
          <span class="lists-subtitle" />
        </span>
      </span>
    </div>
  )
}
