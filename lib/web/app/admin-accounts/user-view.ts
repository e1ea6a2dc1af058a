// Page of one account for administrators: role, what it may see, password, preview, deletion.
import { useState } from 'preact/hooks'
import { NewPasswordField } from '../account/password-field.ts'
import { AdminFrame } from '../admin/admin-frame.ts'
import { api, body, type Schemas } from '../api/client.ts'
import { useResource } from '../api/resource.ts'
import { account, can, startPreview } from '../api/session.ts'
import { navigate } from '../routing/router.ts'
import { useEdited, useUnsaved } from '../routing/unsaved.ts'
import type { ViewProps } from '../routing/view-props.ts'
import { formatDate, t } from '../text/translate.ts'
import { Button } from '../ui/button.ts'
import { ConfirmDialog } from '../ui/dialog.ts'
import { ErrorState } from '../ui/error-state.ts'
import { Switch } from '../ui/field.ts'
import { Form } from '../ui/form.ts'
import { h } from '../ui/h.ts'
import { showNotice } from '../ui/toast.ts'
import { type AccountDraft, AccountFields } from './account-fields.ts'
import { updateUser } from './update-user.ts'
import { UserVisibility } from './user-visibility.ts'

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
  return h(
    AdminFrame,
    {
      title: data?.username ?? t('admin.users'),
      subtitle: data && t('users.since', { date: formatDate(data.createdAt) }),
      actions: mayPreview && h(Button, { icon: 'visible', onClick: showAs }, t('users.showAs')),
    },
    error && !data && h(ErrorState, { error, onRetry: reload }),
    data &&
      h(
        'div',
        { class: 'user-page', key: data.id },
        h(AccountForm, { user: data, isOwn, onSaved: reload }),
        h(UserVisibility, { user: data, onSaved: reload }),
        !isOwn && h(PasswordForm, { id }),
        !isOwn &&
          can('UsersDelete') &&
          h(
            'section',
            { class: 'card' },
            h('h2', null, t('users.delete')),
            h('p', { class: 'secondary-text' }, t('users.deleteHint')),
            h(Button, { variant: 'danger', onClick: () => setDeleting(true) }, t('users.delete')),
          ),
      ),
    isDeleting &&
      data &&
      h(ConfirmDialog, {
        title: t('users.delete'),
        text: t('users.deleteText', { name: data.username }),
        action: t('action.delete'),
        onConfirm: remove,
        onClose: () => setDeleting(false),
      }),
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
  return h(
    'section',
    { class: 'card' },
    h('h2', null, t('account.title')),
    h(
      Form,
      { onSubmit: save },
      h(AccountFields, {
        draft,
        isRoleFixed: isOwn,
        onChange: changes => setDraft(draft => ({ ...draft, ...changes })),
      }),
      h(Switch, {
        label: t('users.active'),
        hint: t('users.activeHint'),
        checked: isActive,
        disabled: isOwn,
        onChange: setActive,
      }),
      h(Button, { type: 'submit', variant: 'primary' }, t('action.save')),
    ),
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
  return h(
    'section',
    { class: 'card' },
    h('h2', null, t('users.setPassword')),
    h(
      Form,
      { onSubmit: save },
      h(NewPasswordField, {
        label: t('account.newPassword'),
        hint: t('users.setPasswordHint'),
        value: password,
        onInput: setPassword,
      }),
      h(Button, { type: 'submit' }, t('users.setPassword')),
    ),
  )
}
