// Placeholder message: nothing here yet, no permission, unknown page.
import type { ComponentChildren } from 'preact'
import { Icon, type IconName } from './icon.tsx'

type EmptyStateProps = {
  icon: IconName
  title: string
  text?: string
  /** A remedy: a button or link. */
  action?: ComponentChildren
}

export function EmptyState({ icon, title, text, action }: EmptyStateProps) {
  return (
    <div class="empty-state">
      <Icon name={icon} size={40} />
      <h2>{title}</h2>
      {text && <p>{text}</p>}
      {action && <div class="empty-state-action">{action}</div>}
    </div>
  )
}
