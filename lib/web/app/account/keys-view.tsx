// API keys of the account, for reading apps and scripts.
import { useState } from 'preact/hooks'
import { api, body, type Schemas } from '../api/client.ts'
import { can } from '../api/session.ts'
import { useGet } from '../api/use-get.ts'
import { useEdited } from '../routing/unsaved.ts'
import { formatDate, formatRelative, t } from '../text/translate.ts'
import { Button, IconButton } from '../ui/button.tsx'
import { ConfirmDialog, Dialog } from '../ui/dialog.tsx'
import { Select, TextField, useInput } from '../ui/field.tsx'
import { Form } from '../ui/form.tsx'
import { currentPage, Pagination } from '../ui/pagination.tsx'
import { EmptyState, ErrorState } from '../ui/state.tsx'
import { AccountFrame } from './account-frame.tsx'
import { CopyableText, ReadingApps } from './reading-apps.tsx'

export function View() {
  const [isCreating, setCreating] = useState(false)
  const [deleted, setDeleted] = useState<Schemas['ApiKey'] | null>(null)
  const keys = useGet('/api/v1/api-keys', { query: { page: currentPage(), pageSize: 50 } })
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
        <Pagination totalPages={keys.data?.totalPages} />
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
    <article class="row card key-card">
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
        <IconButton icon="delete" label={t('keys.deleteNamed', { name })} onClick={onDelete} />
      )}
    </article>
  )
}

type Permission = Schemas['Permission']
type Purpose = 'reading' | 'readOnly' | 'all'
type Lifetime = 'unlimited' | '30' | '365'

const readPermissions: readonly Permission[] = [
  'LibrariesRead',
  'SeriesRead',
  'BooksRead',
  'PagesRead',
  'ProgressRead',
  'CollectionsRead',
  'ReadListsRead',
]
const permissionsOf: Record<Purpose, readonly Permission[] | null> = {
  reading: [...readPermissions, 'ProgressWrite'],
  readOnly: readPermissions,
  all: null,
}

type KeyDialogProps = { onClose: () => void; onCreated: () => void }

/** Creates an API key and shows it once. */
function KeyDialog({ onClose, onCreated }: KeyDialogProps) {
  const name = useInput()
  const [purpose, setPurpose] = useState<Purpose>('reading')
  const [lifetime, setLifetime] = useState<Lifetime>('unlimited')
  const [created, setCreated] = useState<string | null>(null)
  const create = async () => {
    const permissions = permissionsOf[purpose]?.filter(permission => can(permission)) ?? null
    const expiresAt =
      lifetime === 'unlimited'
        ? null
        : new Date(Date.now() + Number(lifetime) * 86_400_000).toISOString()
    const request = { name: name.value, permissions, expiresAt }
    const key = await body(api.POST('/api/v1/api-keys', { body: request }))
    setCreated(key.key)
    onCreated()
  }
  const { isEdited } = useEdited([name.value, purpose, lifetime])
  if (created !== null)
    return (
      <Dialog title={t('keys.created')} onClose={onClose}>
        <p>{t('keys.createdText')}</p>
        <div class="key-secret">
          <CopyableText text={created} />
        </div>
        <Button variant="primary" text={t('action.done')} onClick={onClose} />
      </Dialog>
    )
  return (
    <Dialog title={t('keys.create')} onClose={onClose} isUnsaved={isEdited}>
      <Form onSubmit={create} submit={t('keys.create')}>
        <TextField
          label={t('field.name')}
          hint={t('keys.nameHint')}
          required
          maxLength={100}
          autofocus
          {...name}
        />
        <Select<Purpose>
          label={t('keys.purpose')}
          value={purpose}
          options={(['reading', 'readOnly', 'all'] as const).map(value => ({
            value,
            text: t(`keys.purpose.${value}`),
          }))}
          onChange={setPurpose}
        />
        <Select<Lifetime>
          label={t('keys.lifetime')}
          value={lifetime}
          options={[
            { value: 'unlimited', text: t('keys.unlimited') },
            { value: '30', text: t('count.days', { count: 30 }) },
            { value: '365', text: t('count.days', { count: 365 }) },
          ]}
          onChange={setLifetime}
        />
      </Form>
    </Dialog>
  )
}
