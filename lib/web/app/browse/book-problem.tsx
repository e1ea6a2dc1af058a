// Problem of a book's file, and the remedy.
import { api, type Schemas } from '../api/client.ts'
import { can } from '../api/session.ts'
import { t, textOr } from '../text/translate.ts'
import { Button } from '../ui/button.tsx'
import { Icon } from '../ui/icon.tsx'
import { showNotice } from '../ui/toast.tsx'

type BookProblemProps = { book: Schemas['BookFull']; onChange: () => void }

/** Renders nothing for an intact file. */
export function BookProblem({ book, onChange }: BookProblemProps) {
  const { id, deleted, errorCode, analysisError } = book
  const retry = async () => {
    await api.POST('/api/v1/books/{id}/retry', { params: { path: { id } }, body: {} })
    showNotice(t('details.retryStarted'))
    onChange()
  }
  if (!deleted && errorCode === null) return null
  const isMaintainer = can('BooksWrite')
  return (
    <div class="browse-notice danger" role="status">
      <Icon name="error" />
      <div>
        <strong>{t(deleted ? 'lists.missing' : 'lists.unreadable')}</strong>
        <p>
          {deleted
            ? t('details.missingText')
            : textOr(`bookError.${errorCode}`, analysisError ?? '')}
        </p>
        {!deleted && isMaintainer && (
          <p class="secondary-text">
            <code>{errorCode}</code>
            {analysisError && ` – ${analysisError}`}
          </p>
        )}
      </div>
      {!deleted && isMaintainer && (
        <Button icon="refresh" onClick={retry}>
          {t('action.retry')}
        </Button>
      )}
    </div>
  )
}
