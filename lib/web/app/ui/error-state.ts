// What is shown in place of a view or a part of it that failed to load.

import { ApiError } from '../api/errors.ts'
import { href } from '../routing/router.ts'
import { messageOf } from '../text/error-message.ts'
import { t } from '../text/translate.ts'
import { Button } from './button.ts'
import { EmptyState } from './empty-state.ts'
import { h } from './h.ts'

type ErrorStateProps = { error: unknown; onRetry?: () => void }

export function ErrorState({ error, onRetry }: ErrorStateProps) {
  const isUnknown = error instanceof ApiError && error.status === 404
  return h(EmptyState, {
    icon: isUnknown ? 'search' : 'error',
    title: t(isUnknown ? 'state.notFound' : 'state.failed'),
    text: isUnknown ? t('state.notFoundText') : messageOf(error),
    action: isUnknown
      ? h('a', { class: 'button', href: href('') }, t('nav.home'))
      : onRetry && h(Button, { icon: 'refresh', onClick: () => onRetry() }, t('action.retry')),
  })
}
