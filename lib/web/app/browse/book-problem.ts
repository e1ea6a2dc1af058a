// What is wrong with the file of a book, and what can be done about it.
import { api, type Schemas } from '../api/client.ts'
import { can } from '../api/session.ts'
import { t, textOr } from '../text/translate.ts'
import { Button } from '../ui/button.ts'
import { h } from '../ui/h.ts'
import { Icon } from '../ui/icon.ts'
import { showNotice } from '../ui/toast.ts'

type BookProblemProps = { book: Schemas['BookFull']; onChange: () => void }

/** Nothing when the file is in order. */
export function BookProblem({ book, onChange }: BookProblemProps) {
  const { id, deleted, errorCode, analysisError } = book
  const retry = async () => {
    await api.POST('/api/v1/books/{id}/retry', { params: { path: { id } }, body: {} })
    showNotice(t('details.retryStarted'))
    onChange()
  }
  if (!deleted && errorCode === null) return null
  const isMaintainer = can('BooksWrite')
  return h(
    'div',
    { class: 'browse-notice danger', role: 'status' },
    h(Icon, { name: 'error' }),
    h(
      'div',
      null,
      h('strong', null, t(deleted ? 'lists.missing' : 'lists.unreadable')),
      h(
        'p',
        null,
        deleted ? t('details.missingText') : textOr(`bookError.${errorCode}`, analysisError ?? ''),
      ),
      !deleted &&
        isMaintainer &&
        h(
          'p',
          { class: 'secondary-text' },
          h('code', null, errorCode),
          analysisError && ` – ${analysisError}`,
        ),
    ),
    !deleted && isMaintainer && h(Button, { icon: 'refresh', onClick: retry }, t('action.retry')),
  )
}
