// Dialog that creates an account; its visible content is set on its page.
import { useState } from 'preact/hooks'
import { NewPasswordField } from '../account/password-field.tsx'
import { api, body } from '../api/client.ts'
import { navigate } from '../routing/router.ts'
import { useEdited } from '../routing/unsaved.ts'
import { t } from '../text/translate.ts'
import { Button } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Form } from '../ui/form.tsx'
import { type AccountDraft, AccountFields } from './account-fields.tsx'

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
  return (
    <Dialog title={t('account.create')} onClose={onClose} isUnsaved={isEdited}>
      <Form onSubmit={create}>
        <AccountFields
          draft={draft}
          onChange={changes => setDraft(draft => ({ ...draft, ...changes }))}
        />
        <NewPasswordField label={t('account.password')} value={password} onInput={setPassword} />
        <Button type="submit" variant="primary">
          {t('account.create')}
        </Button>
      </Form>
    </Dialog>
  )
}
