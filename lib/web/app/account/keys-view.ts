// API keys of the account, for reading apps and scripts.
import { useState } from 'preact/hooks'
import { api, body, type Schemas } from '../api/client.ts'
import { useResource } from '../api/resource.ts'
import { can } from '../api/session.ts'
import { address, setQuery } from '../routing/router.ts'
import { formatDate, formatRelative, t } from '../text/translate.ts'
import { Button, IconButton } from '../ui/button.ts'
import { ConfirmDialog } from '../ui/dialog.ts'
import { EmptyState } from '../ui/empty-state.ts'
import { ErrorState } from '../ui/error-state.ts'
import { h } from '../ui/h.ts'
import { Pagination } from '../ui/pagination.ts'
import { AccountFrame } from './account-frame.ts'
import { KeyDialog } from './key-dialog.ts'
import { ReadingApps } from './reading-apps.ts'

const pageSize = 50

export function View() {
  const [isCreating, setCreating] = useState(false)
  const [deleted, setDeleted] = useState<Schemas['ApiKey'] | null>(null)
  const page = Number(address.value.query.get('page')) || 1
  const keys = useResource(`api-keys?page=${page}`, signal =>
    body(api.GET('/api/v1/api-keys', { params: { query: { page, pageSize } }, signal })),
  )
  const create = h(
    Button,
    { icon: 'add', variant: 'primary', onClick: () => setCreating(true) },
    t('keys.create'),
  )
  return h(
    AccountFrame,
    { title: t('keys.title'), actions: can('ApiKeysWrite') && create },
    keys.error && !keys.data && h(ErrorState, { error: keys.error, onRetry: keys.reload }),
    h(
      'div',
      { class: 'key-list' },
      keys.data?.data.length === 0 &&
        h(EmptyState, { icon: 'key', title: t('keys.none'), text: t('keys.noneText') }),
      keys.data?.data.map(key =>
        h(KeyCard, { apiKey: key, key: key.id, onDelete: () => setDeleted(key) }),
      ),
      keys.data &&
        h(Pagination, {
          page,
          totalPages: keys.data.totalPages,
          onChange: page => setQuery({ page: page === 1 ? null : String(page) }),
        }),
      !keys.isLoading && h(ReadingApps, null),
    ),
    isCreating && h(KeyDialog, { onClose: () => setCreating(false), onCreated: keys.reload }),
    deleted &&
      h(ConfirmDialog, {
        title: t('keys.delete'),
        text: t('keys.deleteText', { name: deleted.name }),
        action: t('action.delete'),
        onClose: () => setDeleted(null),
        onConfirm: async () => {
          await api.DELETE('/api/v1/api-keys/{id}', { params: { path: { id: deleted.id } } })
          keys.reload()
        },
      }),
  )
}

function KeyCard({ apiKey, onDelete }: { apiKey: Schemas['ApiKey']; onDelete: () => void }) {
  const { name, keyPrefix, lastUsedAt, expiresAt, isActive } = apiKey
  const isExpired = expiresAt !== null && new Date(expiresAt) < new Date()
  return h(
    'article',
    { class: 'card key-card' },
    h(
      'div',
      null,
      h('h2', null, name),
      h(
        'p',
        { class: 'secondary-text' },
        h('code', null, `${keyPrefix}…`),
        ' · ',
        lastUsedAt ? t('keys.used', { time: formatRelative(lastUsedAt) }) : t('keys.unused'),
        expiresAt && ` · ${t('keys.expires', { date: formatDate(expiresAt) })}`,
      ),
    ),
    (!isActive || isExpired) &&
      h('span', { class: 'badge danger' }, t(isExpired ? 'keys.expired' : 'keys.inactive')),
    can('ApiKeysDelete') &&
      h(IconButton, {
        icon: 'delete',
        variant: 'quiet',
        label: t('keys.deleteNamed', { name }),
        onClick: onDelete,
      }),
  )
}
