// Page of one account for administrators: role, visible content, password, preview, deletion.
import { useState } from 'preact/hooks'
import { AdminFrame } from '../admin/admin-frame.tsx'
import { api, type Schemas } from '../api/client.ts'
import { account, can, startPreview } from '../api/session.ts'
import { useGet } from '../api/use-get.ts'
import type { ViewProps } from '../routing/route.ts'
import { navigate } from '../routing/router.ts'
import { useEdited, useUnsaved } from '../routing/unsaved.ts'
import { formatDate, t } from '../text/translate.ts'
import { NewPasswordField } from '../ui/account-fields.tsx'
import { Button } from '../ui/button.tsx'
import { useConfirm } from '../ui/dialog.tsx'
import { Switch, useInput } from '../ui/field.tsx'
import { Form } from '../ui/form.tsx'
import { ErrorState } from '../ui/state.tsx'
import { showNotice } from '../ui/toast.tsx'
import { type AccountDraft, AccountFields } from './account-fields.tsx'
import { UserVisibility } from './user-visibility.tsx'

type User = Schemas['User']

export function View({ params: { id = '' } }: ViewProps) {
  const { data, error, reload } = useGet('/api/v1/users/{id}', { path: { id } })
  const isOwn = account.value?.id === id
  const showAs = async () => {
    await startPreview(id)
    navigate('')
  }
  const remove = async () => {
    await api.DELETE('/api/v1/users/{id}', { params: { path: { id } } })
    navigate('admin/users', { replace: true })
  }
  const { ask, dialog } = useConfirm({
    title: t('users.delete'),
    text: t('users.deleteText', { name: data?.username ?? '' }),
    action: t('action.delete'),
    onConfirm: remove,
  })
  const mayPreview = can('UsersWrite') && !isOwn && data?.isActive
  return (
    <AdminFrame
      title={data?.username ?? t('admin.users')}
      subtitle={data && t('users.since', { date: formatDate(data.createdAt) })}
      actions={mayPreview && <Button icon="visible" text={t('users.showAs')} onClick={showAs} />}
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
              <Button variant="danger" text={t('users.delete')} onClick={ask} />
            </section>
          )}
        </div>
      )}
      {dialog}
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
    const request = { ...changes, ...(!isOwn && { role, isActive }) }
    await api.PATCH('/api/v1/users/{id}', { params: { path: { id: user.id } }, body: request })
    setSaved()
    onSaved()
    showNotice(t('action.saved'))
  }
  return (
    <section class="card">
      <h2>{t('account.title')}</h2>
      <Form onSubmit={save} submit={t('action.save')}>
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
      </Form>
    </section>
  )
}

function PasswordForm({ id }: { id: string }) {
  const { value: password, onInput } = useInput()
  useUnsaved(password !== '')
  const save = async () => {
    await api.PATCH('/api/v1/users/{id}', { params: { path: { id } }, body: { password } })
    onInput('')
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
          onInput={onInput}
        />
        <Button type="submit" text={t('users.setPassword')} />
      </Form>
    </section>
  )
}
