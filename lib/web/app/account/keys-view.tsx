// API keys of the account, for reading apps and scripts.
import { useState } from 'preact/hooks'
import { api, body, type Schemas } from '../api/client.ts'
import { useResource } from '../api/resource.ts'
import { can } from '../api/session.ts'
import { address, setQuery } from '../routing/router.ts'
import { formatDate, formatRelative, t } from '../text/translate.ts'
import { Button, IconButton } from '../ui/button.tsx'
import { ConfirmDialog } from '../ui/dialog.tsx'
import { EmptyState } from '../ui/empty-state.tsx'
import { ErrorState } from '../ui/error-state.tsx'
import { Pagination } from '../ui/pagination.tsx'
import { AccountFrame } from './account-frame.tsx'
import { KeyDialog } from './key-dialog.tsx'
import { ReadingApps } from './reading-apps.tsx'

const pageSize = 50

export function View() {
  const [isCreating, setCreating] = useState(false)
  const [deleted, setDeleted] = useState<Schemas['ApiKey'] | null>(null)
  const page = Number(address.value.query.get('page')) || 1
  const keys = useResource(`api-keys?page=${page}`, signal =>
    body(api.GET('/api/v1/api-keys', { params: { query: { page, pageSize } }, signal })),
  )
  const create = (
    <Button icon="add" variant="primary" onClick={() => setCreating(true)}>
      {t('keys.create')}
    </Button>
  )
  return (
    <AccountFrame title={t('keys.title')} actions={can('ApiKeysWrite') && create}>
      {keys.error && !keys.data && <ErrorState error={keys.error} onRetry={keys.reload} />}
      <div class="key-list">
        {keys.data?.data.length === 0 && (
          <EmptyState icon="key" title={t('keys.none')} text={t('keys.noneText')} />
        )}
        {keys.data?.data.map(key => (
          <KeyCard key={key.id} apiKey={key} onDelete={() => setDeleted(key)} />
        ))}
        {keys.data && (
          <Pagination
            page={page}
            totalPages={keys.data.totalPages}
            onChange={page => setQuery({ page: page === 1 ? null : String(page) })}
          />
        )}
        {!keys.isLoading && <ReadingApps />}
      </div>
      {isCreating && <KeyDialog onClose={() => setCreating(false)} onCreated={keys.reload} />}
      {deleted && (
        <ConfirmDialog
          title={t('keys.delete')}
          text={t('keys.deleteText', { name: deleted.name })}
          action={t('action.delete')}
          onClose={() => setDeleted(null)}
          onConfirm={async () => {
            await api.DELETE('/api/v1/api-keys/{id}', { params: { path: { id: deleted.id } } })
            keys.reload()
          }}
        />
      )}
    </AccountFrame>
  )
}

function KeyCard({ apiKey, onDelete }: { apiKey: Schemas['ApiKey']; onDelete: () => void }) {
  const { name, keyPrefix, lastUsedAt, expiresAt, isActive } = apiKey
  const isExpired = expiresAt !== null && new Date(expiresAt) < new Date()
  return (
    <article class="card key-card">
      <div>
        <h2>{name}</h2>
        <p class="secondary-text">
          <code>{keyPrefix}…</code>
          {' · '}
          {lastUsedAt ? t('keys.used', { time: formatRelative(lastUsedAt) }) : t('keys.unused')}
          {expiresAt && ` · ${t('keys.expires', { date: formatDate(expiresAt) })}`}
        </p>
      </div>
      {(!isActive || isExpired) && (
        <span class="badge danger">{t(isExpired ? 'keys.expired' : 'users.inactive')}</span>
      )}
      {can('ApiKeysDelete') && (
        <IconButton
          icon="delete"
          variant="quiet"
          label={t('keys.deleteNamed', { name })}
          onClick={onDelete}
        />
      )}
    </article>
  )
}
