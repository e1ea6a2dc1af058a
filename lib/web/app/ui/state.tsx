// Placeholders of a view or a part of it: loading, failed to load, nothing to show.
import type { ComponentChildren } from 'preact'
import { ApiError } from '../api/errors.ts'
import { messageOf } from '../text/error-message.ts'
import { t } from '../text/translate.ts'
import { Button, ButtonLink } from './button.tsx'
import { Icon, type IconName } from './icon.tsx'

export const Loading = () => <div class="view-loading" aria-busy />

type EmptyStateProps = {
  icon: IconName
  title: string
  text?: string
  /** A remedy: a button or link. */
  action?: ComponentChildren
}

/** Nothing here yet, no permission, unknown page. */
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

/** `action`: a way out. */
export const NoPermission = ({ action }: { action?: ComponentChildren }) => (
  <EmptyState
    icon="lock"
    title={t('state.noPermission')}
    text={t('state.noPermissionText')}
    action={action}
  />
)

type ErrorStateProps = { error: unknown; onRetry?: () => void }

/** For what failed to load. */
export function ErrorState({ error, onRetry }: ErrorStateProps) {
  const isUnknown = error instanceof ApiError && error.status === 404
  return (
    <EmptyState
      icon={isUnknown ? 'search' : 'error'}
      title={t(isUnknown ? 'state.notFound' : 'state.failed')}
      text={isUnknown ? t('state.notFoundText') : messageOf(error)}
      action={
        isUnknown ? (
          <ButtonLink path="" text={t('nav.home')} />
        ) : (
          onRetry && <Button icon="refresh" text={t('action.retry')} onClick={() => onRetry()} />
        )
      }
    />
  )
}
