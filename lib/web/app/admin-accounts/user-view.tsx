// Page of one account for administrators: role, visible content, password, preview, deletion.
import { useState } from 'preact/hooks'
import { NewPasswordField } from '../account/password-field.tsx'
import { AdminFrame } from '../admin/admin-frame.tsx'
import { api, body, type Schemas } from '../api/client.ts'
import { useResource } from '../api/resource.ts'
import { account, can, startPreview } from '../api/session.ts'
import { navigate } from '../routing/router.ts'
import { useEdited, useUnsaved } from '../routing/unsaved.ts'
import type { ViewProps } from '../routing/view-props.ts'
import { formatDate, t } from '../text/translate.ts'
import { Button } from '../ui/button.tsx'
import { ConfirmDialog } from '../ui/dialog.tsx'
import { ErrorState } from '../ui/error-state.tsx'
import { Switch } from '../ui/field.tsx'
import { Form } from '../ui/form.tsx'
import { showNotice } from '../ui/toast.tsx'
import { type AccountDraft, AccountFields } from './account-fields.tsx'
import { updateUser } from './update-user.ts'
import { UserVisibility } from './user-visibility.tsx'

type User = Schemas['User']

export function View({ params: { id = '' } }: ViewProps) {
  const [isDeleting, setDeleting] = useState(false)
  const { data, error, reload } = useResource(`users/${id}`, signal =>
    body(api.GET('/api/v1/users/{id}', { params: { path: { id } }, signal })),
  )
  const isOwn = account.value?.id === id
  const showAs = async () => {
    await startPreview(id)
    navigate('')
  }
  const remove = async () => {
    await api.DELETE('/api/v1/users/{id}', { params: { path: { id } } })
    navigate('admin/users', { replace: true })
  }
  const mayPreview = can('UsersWrite') && !isOwn && data?.isActive
  return (
    <AdminFrame
      title={data?.username ?? t('admin.users')}
      subtitle={data && t('users.since', { date: formatDate(data.createdAt) })}
      actions={
        mayPreview && (
          <Button icon="visible" onClick={showAs}>
            {t('users.showAs')}
          </Button>
        )
      }
    >
      {error && !data && <ErrorState error={error} onRetry={reload} />}
      {data && (
        <div key={data.id} class="user-page">
          <AccountForm user={data} isOwn={isOwn} onSaved={reload} />
          <UserVisibility user={data} onSaved={reload} />
          {!isOwn && <PasswordForm id={id} />}
          {!isOwn && can('UsersDelete') && (
            <section class="card">
              <h2>{t('users.delete')}</h2>
              <p class="secondary-text">{t('users.deleteHint')}</p>
              <Button variant="danger" onClick={() => setDeleting(true)}>
                {t('users.delete')}
              </Button>
            </section>
          )}
        </div>
      )}
      {isDeleting && data && (
        <ConfirmDialog
          title={t('users.delete')}
          text={t('users.deleteText', { name: data.username })}
          action={t('action.delete')}
          onConfirm={remove}
          onClose={() => setDeleting(false)}
        />
      )}
    </AdminFrame>
  )
}

type AccountFormProps = { user: User; isOwn: boolean; onSaved: () => void }

function AccountForm({ user, isOwn, onSaved }: AccountFormProps) {
  const { username, email, role } = user
  const [draft, setDraft] = useState<AccountDraft>({ username, email, role })
  const [isActive, setActive] = useState(user.isActive)
  const { isEdited, setSaved } = useEdited([draft, isActive])
  useUnsaved(isEdited)
  const save = async () => {
    const { role, ...changes } = draft
    await updateUser(user.id, { ...changes, ...(!isOwn && { role, isActive }) })
    setSaved()
    onSaved()
    showNotice(t('action.saved'))
  }
  return (
    <section class="card">
      <h2>{t('account.title')}</h2>
      <Form onSubmit={save}>
        <AccountFields
          draft={draft}
          isRoleFixed={isOwn}
          onChange={changes => setDraft(draft => ({ ...draft, ...changes }))}
        />
        <Switch
          label={t('users.active')}
          hint={t('users.activeHint')}
          checked={isActive}
          disabled={isOwn}
          onChange={setActive}
        />
        <Button type="submit" variant="primary">
          {t('action.save')}
        </Button>
      </Form>
    </section>
  )
}

function PasswordForm({ id }: { id: string }) {
  const [password, setPassword] = useState('')
  useUnsaved(password !== '')
  const save = async () => {
    await updateUser(id, { password })
    setPassword('')
    showNotice(t('users.passwordSet'))
  }
  return (
    <section class="card">
      <h2>{t('users.setPassword')}</h2>
      <Form onSubmit={save}>
        <NewPasswordField
          label={t('account.newPassword')}
          hint={t('users.setPasswordHint')}
          value={password}
          onInput={setPassword}
        />
        <Button type="submit">{t('users.setPassword')}</Button>
      </Form>
    </section>
  )
}
