// Placeholder for a view, or part of one, that failed to load.

import { ApiError } from '../api/errors.ts'
import { href } from '../routing/router.ts'
import { messageOf } from '../text/error-message.ts'
import { t } from '../text/translate.ts'
import { Button } from './button.tsx'
import { EmptyState } from './empty-state.tsx'

type ErrorStateProps = { error: unknown; onRetry?: () => void }

export function ErrorState({ error, onRetry }: ErrorStateProps) {
  const isUnknown = error instanceof ApiError && error.status === 404
  return (
    <EmptyState
      icon={isUnknown ? 'search' : 'error'}
      title={t(isUnknown ? 'state.notFound' : 'state.failed')}
      text={isUnknown ? t('state.notFoundText') : messageOf(error)}
      action={
        isUnknown ? (
          <a class="button" href={href('')}>
            {t('nav.home')}
          </a>
        ) : (
          onRetry && (
            <Button icon="refresh" onClick={() => onRetry()}>
              {t('action.retry')}
            </Button>
          )
        )
      }
    />
  )
}
