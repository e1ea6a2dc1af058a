// Card and line of a series or book: cover, title, state, and the box to select it.
import type { ComponentChildren } from 'preact'
import { t } from '../text/translate.ts'
import { Cover, type CoverOwner } from '../ui/cover.ts'
import { h } from '../ui/h.ts'
import { Icon } from '../ui/icon.ts'
import type { Selection } from './selection.ts'

export type CardOptions = {
  selection?: Selection | undefined
  tabIndex?: number
  /** A line with a small cover instead of a card. */
  isLine?: boolean
}

type CardProps = CardOptions & {
  owner: CoverOwner
  id: string
  path: string
  title: string
  subtitle: ComponentChildren
  /** Further columns of a line. */
  details?: ComponentChildren
  /** On the cover, at its end. */
  badge?: ComponentChildren
  /** From 0 to 1; null for none. */
  progress?: number | null
  isFaded?: boolean
  /** Changes with the cover, where there is no event for it. */
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
  return h(
    'div',
    { class: classes.filter(Boolean).join(' ') },
    h(
      'a',
      { class: 'lists-link', href: path, tabIndex, onClick: toggleInstead, draggable: false },
      h(
        'span',
        { class: 'lists-cover' },
        h(Cover, { owner, id, ...(props.coverVersion && { version: props.coverVersion }) }),
        badge,
        progress != null && h(ProgressLine, { value: progress }),
      ),
      h(
        'span',
        { class: 'lists-text' },
        h('span', { class: 'lists-title', dir: 'auto' }, title),
        h('span', { class: 'lists-subtitle' }, subtitle),
      ),
      isLine && details,
    ),
    selection &&
      h(
        'label',
        { class: 'lists-select' },
        h('input', {
          type: 'checkbox',
          checked: isSelected,
          tabIndex,
          'aria-label': t('lists.select', { title }),
          onChange: () => selection.toggle(id),
        }),
      ),
  )
}

function ProgressLine({ value }: { value: number }) {
  const percent = Math.round(Math.min(1, Math.max(0, value)) * 100)
  return h(
    'span',
    { class: 'lists-progress' },
    h('span', { style: { width: `${percent}%` } }),
    h('span', { class: 'visually-hidden' }, t('lists.progress', { percent })),
  )
}

/** A mark on a cover: a number or an icon, with its meaning for screen readers. */
export function CoverBadge({
  icon,
  text,
  label,
  kind = 'accent',
}: {
  icon?: Parameters<typeof Icon>[0]['name']
  text?: string
  label: string
  kind?: 'accent' | 'danger' | 'success'
}) {
  return h(
    'span',
    { class: `lists-badge ${kind}`, title: label },
    icon && h(Icon, { name: icon, size: 14 }),
    text && h('span', { 'aria-hidden': true }, text),
    h('span', { class: 'visually-hidden' }, label),
  )
}

/** In place of a card that is loading. */
export function CardSkeleton({ isLine }: { isLine?: boolean | undefined }) {
  return h(
    'div',
    { class: `${isLine ? 'lists-line' : 'lists-card'} loading`, 'aria-hidden': true },
    h(
      'span',
      { class: 'lists-link' },
      h('span', { class: 'lists-cover' }),
      h(
        'span',
        { class: 'lists-text' },
        h('span', { class: 'lists-title' }),
        h('span', { class: 'lists-subtitle' }),
      ),
    ),
  )
}
