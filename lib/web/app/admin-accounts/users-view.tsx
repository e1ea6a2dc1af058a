// Administration of accounts: list, creation, sharing tags.
import { useState } from 'preact/hooks'
import { AdminFrame } from '../admin/admin-frame.tsx'
import { api, body, type Schemas } from '../api/client.ts'
import { useGet, useGetAll } from '../api/resource.ts'
import { can } from '../api/session.ts'
import { href, navigate } from '../routing/router.ts'
import { useEdited } from '../routing/unsaved.ts'
import { formatRelative, t, textOr } from '../text/translate.ts'
import { Button, IconButton } from '../ui/button.tsx'
import { ConfirmDialog, Dialog } from '../ui/dialog.tsx'
import { NewPasswordField, TextField, useInput } from '../ui/field.tsx'
import { Form } from '../ui/form.tsx'
import { Icon } from '../ui/icon.tsx'
import { currentPage, Pagination } from '../ui/pagination.tsx'
import { ErrorState } from '../ui/state.tsx'
import { type AccountDraft, AccountFields } from './account-fields.tsx'

export function View() {
  const [isCreating, setCreating] = useState(false)
  const { data, error, reload } = useGet('/api/v1/users', {
    query: { page: currentPage(), pageSize: 50 },
  })
  const create = (
    <Button icon="add" variant="primary" onClick={() => setCreating(true)}>
      {t('account.create')}
    </Button>
  )
  return (
    <AdminFrame title={t('admin.users')} actions={can('UsersWrite') && create}>
      {error && !data && <ErrorState error={error} onRetry={reload} />}
      {data && (
        <ul class="user-list">
          {data.data.map(user => (
            <UserCard key={user.id} user={user} />
          ))}
        </ul>
      )}
      <Pagination totalPages={data?.totalPages} />
      {data && can('UsersWrite') && <SharingTags />}
      {isCreating && <UserDialog onClose={() => setCreating(false)} />}
    </AdminFrame>
  )
}

function UserCard({ user }: { user: Schemas['User'] }) {
  const { id, username, email, role, isActive, libraryIds, ageLimit, lastLoginAt } = user
  return (
    <li>
      <a class="card user-card" href={href(`admin/users/${id}`)}>
        <Icon name="account" size={28} />
        <div class="user-card-name">
          <strong>{username}</strong>
          <span class="secondary-text">{email}</span>
        </div>
        <div class="user-card-badges">
          <span class={role === 'reader' ? 'badge' : 'badge accent'}>
            {textOr(`role.${role}`, role)}
          </span>
          {!isActive && <span class="badge danger">{t('users.inactive')}</span>}
          {libraryIds !== null && (
            <span class="badge">{t('account.someLibraries', { count: libraryIds.length })}</span>
          )}
          {ageLimit !== null && <span class="badge">{t('users.upToAge', { age: ageLimit })}</span>}
        </div>
        <span class="user-card-time secondary-text">
          {lastLoginAt ? formatRelative(lastLoginAt) : t('users.neverSignedIn')}
        </span>
      </a>
    </li>
  )
}

const newAccount: AccountDraft = { username: '', email: '', role: 'reader' }

/** Creates an account; its visible content is set on its page. */
function UserDialog({ onClose }: { onClose: () => void }) {
  const [draft, setDraft] = useState(newAccount)
  const password = useInput()
  const { isEdited } = useEdited([draft, password.value])
  const create = async () => {
    const account = { ...draft, password: password.value, emailVerified: true }
    const { id } = await body(api.POST('/api/v1/users', { body: account }))
    navigate(`admin/users/${id}`)
  }
  return (
    <Dialog title={t('account.create')} onClose={onClose} isUnsaved={isEdited}>
      <Form onSubmit={create} submit={t('account.create')}>
        <AccountFields
          draft={draft}
          onChange={changes => setDraft(draft => ({ ...draft, ...changes }))}
        />
        <NewPasswordField {...password} />
      </Form>
    </Dialog>
  )
}

/** Groups of series to show to or hide from accounts. */
function SharingTags() {
  const name = useInput()
  const [deleted, setDeleted] = useState<Schemas['SharingTag'] | null>(null)
  const tags = useGetAll('/api/v1/admin/sharing-tags')
  const create = async () => {
    await api.POST('/api/v1/admin/sharing-tags', { body: { name: name.value } })
    name.onInput('')
    tags.reload()
  }
  if (tags.isLoading) return null
  return (
    <section class="card sharing-tags">
      <h2>{t('field.sharing')}</h2>
      <p class="secondary-text">{t('users.sharingTagsText')}</p>
      <ul>
        {tags.data?.map(tag => (
          <li key={tag.id}>
            <strong>{tag.name}</strong>
            <span class="secondary-text">
              {t('users.sharingTagUse', { series: tag.seriesCount, users: tag.userCount })}
            </span>
            <IconButton
              icon="delete"
              label={t('users.deleteTag', { name: tag.name })}
              onClick={() => setDeleted(tag)}
            />
          </li>
        ))}
      </ul>
      <Form onSubmit={create}>
        <TextField label={t('users.newTag')} required maxLength={100} {...name} />
        <Button type="submit" icon="add" text={t('users.addTag')} />
      </Form>
      {deleted && (
        <ConfirmDialog
          title={t('users.deleteTag', { name: deleted.name })}
          text={t('users.deleteTagText', { name: deleted.name })}
          action={t('action.delete')}
          onClose={() => setDeleted(null)}
          onConfirm={async () => {
            const path = { tag_id: deleted.id }
            await api.DELETE('/api/v1/admin/sharing-tags/{tag_id}', { params: { path } })
            tags.reload()
          }}
        />
      )}
    </section>
  )
}
