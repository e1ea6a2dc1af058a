// Dialog that creates an account; what it may see is set on its page.
import { useState } from 'preact/hooks'
import { NewPasswordField } from '../account/password-field.ts'
import { api, body } from '../api/client.ts'
import { navigate } from '../routing/router.ts'
import { useEdited } from '../routing/unsaved.ts'
import { t } from '../text/translate.ts'
import { Button } from '../ui/button.ts'
import { Dialog } from '../ui/dialog.ts'
import { Form } from '../ui/form.ts'
import { h } from '../ui/h.ts'
import { type AccountDraft, AccountFields } from './account-fields.ts'

const newAccount: AccountDraft = { username: '', email: '', role: 'reader' }

export function UserDialog({ onClose }: { onClose: () => void }) {
  const [draft, setDraft] = useState(newAccount)
  const [password, setPassword] = useState('')
  const { isEdited } = useEdited([draft, password])
  const create = async () => {
    const account = { ...draft, password, emailVerified: true }
    const { id } = await body(api.POST('/api/v1/users', { body: account }))
    navigate(`admin/users/${id}`)
  }
  return h(
    Dialog,
    { title: t('users.create'), onClose, isUnsaved: isEdited },
    h(
      Form,
      { onSubmit: create },
      h(AccountFields, {
        draft,
        onChange: changes => setDraft(draft => ({ ...draft, ...changes })),
      }),
      h(NewPasswordField, { label: t('signIn.password'), value: password, onInput: setPassword }),
      h(Button, { type: 'submit', variant: 'primary' }, t('users.create')),
    ),
  )
}
