// Dialog that creates an account; what it may see is set on its page.
import { useState } from 'preact/hooks'
import { api, body, type Schemas } from '../api/client.ts'
import { navigate } from '../routing/router.ts'
import { t } from '../text/translate.ts'
import { Button } from '../ui/button.ts'
import { Dialog } from '../ui/dialog.ts'
import { Select, TextField } from '../ui/field.ts'
import { Form } from '../ui/form.ts'
import { h } from '../ui/h.ts'

export type Role = Schemas['Role']
const roles: readonly Role[] = ['reader', 'maintainer', 'admin']

export const roleOptions = () => roles.map(value => ({ value, text: t(`role.${value}`) }))

export function UserDialog({ onClose }: { onClose: () => void }) {
  const [username, setUsername] = useState('')
  const [email, setEmail] = useState('')
  const [password, setPassword] = useState('')
  const [role, setRole] = useState<Role>('reader')
  const create = async () => {
    const account = { username, email, password, role, emailVerified: true }
    const { id } = await body(api.POST('/api/v1/users', { body: account }))
    navigate(`admin/users/${id}`)
  }
  return h(
    Dialog,
    { title: t('users.create'), onClose },
    h(
      Form,
      { onSubmit: create },
      h(TextField, {
        label: t('register.name'),
        required: true,
        autocomplete: 'off',
        autofocus: true,
        value: username,
        onInput: setUsername,
      }),
      h(TextField, {
        label: t('account.email'),
        type: 'email',
        required: true,
        autocomplete: 'off',
        value: email,
        onInput: setEmail,
      }),
      h(TextField, {
        label: t('signIn.password'),
        type: 'password',
        required: true,
        minLength: 8,
        autocomplete: 'new-password',
        hint: t('account.passwordHint'),
        value: password,
        onInput: setPassword,
      }),
      h(Select<Role>, {
        label: t('users.role'),
        hint: t(`role.${role}Hint`),
        value: role,
        options: roleOptions(),
        onChange: setRole,
      }),
      h(Button, { type: 'submit', variant: 'primary' }, t('users.create')),
    ),
  )
}
