// Message in place of content: nothing there yet, no permission, unknown page.
import type { ComponentChildren } from 'preact'
import { h } from './h.ts'
import { Icon, type IconName } from './icon.ts'

type EmptyStateProps = {
  icon: IconName
  title: string
  text?: string
  /** What can be done about it: a button or link. */
  action?: ComponentChildren
}

export function EmptyState({ icon, title, text, action }: EmptyStateProps) {
  return h(
    'div',
    { class: 'empty-state' },
    h(Icon, { name: icon, size: 40 }),
    h('h2', null, title),
    text && h('p', null, text),
    action && h('div', { class: 'empty-state-action' }, action),
  )
}
